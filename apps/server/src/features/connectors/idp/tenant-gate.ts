import { type Fault, fault } from "../../../kernel/errors.ts";

/** The tenant's own limit is spent for longer than the caller may wait. The call was not done: repeating it is safe. */
export function rateLimited(waitMs: number): Fault {
  return busy("The tenant's rate limit is reached", waitMs, { status: 429 });
}

/** Too many calls of ours wait for this tenant. Nothing was sent. */
function crowded(waitMs: number): Fault {
  return busy("Too many calls to this tenant are under way", waitMs, {});
}

function busy(what: string, waitMs: number, more: Record<string, unknown>): Fault {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return fault("rate_limit", `${what}. Repeat in ${seconds} s.`, {
    retryAfterSeconds: seconds,
    ctx: { ...more, retry_after_seconds: seconds, what_to_do: `Wait ${seconds} s, then repeat the same call.` },
  });
}

interface Waiter {
  admit(): void;
}

interface Lane {
  inFlight: number;
  waiting: Waiter[];
  /** The tenant said that nothing is left until then. */
  closedUntil: number;
}

const inFlightPerTenant = 2;
const longestQueue = 64;
/** A tenant that names a moment far away, by mistake or not, does not lock itself out for longer. */
const longestClosureMs = 60_000;
/** Users choose the tenants, so only so many are remembered. */
const mostRemembered = 1000;

/**
 * Holds the calls to one tenant, of all users of this node, to two at a time, and lets none through while the tenant's
 * own counter stands at zero.
 */
export class TenantGate {
  readonly #lanes = new Map<string, Lane>();

  /** Milliseconds until the tenant takes calls again; 0 when it does. */
  closedFor(domain: string, now: number): number {
    return Math.max(0, (this.#lanes.get(domain)?.closedUntil ?? 0) - now);
  }

  close(domain: string, until: number, now: number): void {
    const lane = this.#laneOf(domain);
    lane.closedUntil = Math.max(lane.closedUntil, Math.min(until, now + longestClosureMs));
  }

  /** Resolves with what gives the place back. Rejects when none is free within `waitMs`, or when the caller leaves. */
  enter(domain: string, waitMs: number, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    const lane = this.#laneOf(domain);
    if (lane.inFlight < inFlightPerTenant && lane.waiting.length === 0) {
      lane.inFlight++;
      return Promise.resolve(this.#leave(domain, lane));
    }
    if (lane.waiting.length >= longestQueue) return Promise.reject(crowded(waitMs));
    return new Promise((resolve, reject) => {
      const giveUp = (reason: unknown) => {
        lane.waiting.splice(lane.waiting.indexOf(waiter), 1);
        settle();
        reject(reason);
      };
      const onAbort = () => giveUp(signal?.reason);
      const timer = setTimeout(() => giveUp(crowded(waitMs)), waitMs);
      const settle = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
      };
      const waiter: Waiter = {
        admit: () => {
          settle();
          resolve(this.#leave(domain, lane));
        },
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      lane.waiting.push(waiter);
    });
  }

  #laneOf(domain: string): Lane {
    const known = this.#lanes.get(domain);
    if (known) return known;
    if (this.#lanes.size >= mostRemembered) this.#forgetIdle();
    const lane: Lane = { inFlight: 0, waiting: [], closedUntil: 0 };
    this.#lanes.set(domain, lane);
    return lane;
  }

  #leave(domain: string, lane: Lane): () => void {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const next = lane.waiting.shift();
      // The place goes over to the next one without becoming free in between.
      if (next) next.admit();
      else {
        lane.inFlight--;
        if (lane.inFlight === 0 && lane.closedUntil === 0) this.#lanes.delete(domain);
      }
    };
  }

  #forgetIdle(): void {
    for (const [domain, lane] of this.#lanes) {
      if (lane.inFlight === 0 && lane.waiting.length === 0) this.#lanes.delete(domain);
    }
  }
}
