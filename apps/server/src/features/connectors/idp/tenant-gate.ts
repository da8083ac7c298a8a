import type { NetHeaders } from "../../../engines/net/net.ts";
import { type Fault, fault } from "../../../kernel/errors.ts";

/** The tenant's own limit is spent for longer than the caller may wait. The call was not done: repeating it is safe. */
export function rateLimited(waitMs: number): Fault {
  return busy("The tenant's rate limit is reached", waitMs, { status: 429 });
}

/** Too many calls of the caller's wait for this tenant, or none came to its turn in time. Nothing was sent. */
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

/** Who calls which tenant. */
interface Caller {
  domain: string;
  userId: string;
}

interface Waiter {
  admit(): void;
}

interface Lane {
  inFlight: number;
  /** By user, who comes next first. */
  waiting: Map<string, Waiter[]>;
  /** The tenant said that nothing is left until then. */
  closedUntil: number;
}

const inFlightPerTenant = 2;
/** Of one user, for one tenant: as many calls as a turn of an agent makes side by side. */
const longestLine = 64;
/** Of one user. Whose tenant it is nobody knows before the check. */
const mostChecks = 4;
const checkRetryMs = 1000;
/** A tenant that names a moment far away, by mistake or not, does not lock itself out for longer. */
const longestClosureMs = 60_000;
/** Users choose the tenants, so only so many are remembered. */
const mostRemembered = 1000;

/**
 * Holds the calls to one tenant, of all users of this node, to two at a time, and lets none through while the tenant's
 * own counter stands at zero. Anybody may name any tenant, so those who wait for one take turns: of however many calls
 * one user makes, a single one goes before the next one of another.
 */
export class TenantGate {
  readonly #lanes = new Map<string, Lane>();
  readonly #checks = new Map<string, number>();

  /** A check of a token and a domain that are not known to belong together. Gives what ends it. */
  beginCheck(userId: string): () => void {
    const underWay = this.#checks.get(userId) ?? 0;
    if (underWay >= mostChecks) throw busy("Too many checks of your tokens are under way", checkRetryMs, {});
    this.#checks.set(userId, underWay + 1);
    return () => {
      const left = (this.#checks.get(userId) ?? 0) - 1;
      if (left > 0) this.#checks.set(userId, left);
      else this.#checks.delete(userId);
    };
  }

  /** Milliseconds until the tenant takes calls again; 0 when it does. */
  closedFor(domain: string, now: number): number {
    return Math.max(0, (this.#lanes.get(domain)?.closedUntil ?? 0) - now);
  }

  close(domain: string, until: number, now: number): void {
    const lane = this.#laneOf(domain);
    lane.closedUntil = Math.max(lane.closedUntil, Math.min(until, now + longestClosureMs));
  }

  /** Resolves with what gives the place back. Rejects when none is free within `waitMs`, or when the caller leaves. */
  enter({ domain, userId }: Caller, waitMs: number, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    const lane = this.#laneOf(domain);
    if (lane.inFlight < inFlightPerTenant && lane.waiting.size === 0) {
      lane.inFlight++;
      return Promise.resolve(this.#leave(domain, lane));
    }
    const line = lane.waiting.get(userId) ?? [];
    if (line.length >= longestLine) return Promise.reject(crowded(waitMs));
    return new Promise((resolve, reject) => {
      const giveUp = (reason: unknown) => {
        line.splice(line.indexOf(waiter), 1);
        if (line.length === 0) lane.waiting.delete(userId);
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
      line.push(waiter);
      lane.waiting.set(userId, line);
    });
  }

  #laneOf(domain: string): Lane {
    const known = this.#lanes.get(domain);
    if (known) return known;
    if (this.#lanes.size >= mostRemembered) this.#forgetIdle();
    const lane: Lane = { inFlight: 0, waiting: new Map(), closedUntil: 0 };
    this.#lanes.set(domain, lane);
    return lane;
  }

  #leave(domain: string, lane: Lane): () => void {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const next = nextOf(lane);
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
      if (lane.inFlight === 0 && lane.waiting.size === 0) this.#lanes.delete(domain);
    }
  }
}

/** Takes the first call of the user whose turn it is; its others come after everybody else's. */
function nextOf({ waiting }: Lane): Waiter | undefined {
  for (const [userId, line] of waiting) {
    const next = line.shift();
    waiting.delete(userId);
    if (line.length > 0) waiting.set(userId, line);
    return next;
  }
  return undefined;
}

const longestBackoffMs = 60_000;

/** When the tenant's counter is at zero: the moment at which it is filled again. */
export function spentUntil(headers: NetHeaders): number | undefined {
  return numberIn(headers, "x-ratelimit-remaining") === 0 ? resetAt(headers) : undefined;
}

function resetAt(headers: NetHeaders): number | undefined {
  const seconds = numberIn(headers, "x-ratelimit-reset");
  return seconds === undefined ? undefined : seconds * 1000;
}

/**
 * How long to wait before the call is repeated: what the tenant says (`Retry-After` in seconds or as a date, else the
 * moment when its counter is filled), else a second, doubled each time. `random` spreads those who wait for one moment.
 */
export function waitBeforeRetry(headers: NetHeaders, attempt: number, now: number, random: number): number {
  const after = retryAfterMs(headers, now);
  if (after !== undefined) return after;
  const reset = resetAt(headers);
  const base = reset === undefined ? 1000 * 2 ** attempt : Math.max(reset - now, 100);
  return Math.min(base, reset === undefined ? longestBackoffMs : base) * (1 + random * 0.2);
}

function retryAfterMs(headers: NetHeaders, now: number): number | undefined {
  const text = textIn(headers, "retry-after");
  if (text === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Math.max(100, Number(text) * 1000);
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(100, date - now);
}

function numberIn(headers: NetHeaders, name: string): number | undefined {
  const text = textIn(headers, name);
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

function textIn(headers: NetHeaders, name: string): string | undefined {
  const value = headers[name];
  const [text] = [value ?? []].flat();
  return text?.trim();
}
