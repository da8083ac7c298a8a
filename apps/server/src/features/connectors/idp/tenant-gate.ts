import type { NetHeaders } from "../../../engines/net/net.ts";
import { type Fault, fault } from "../../../kernel/errors.ts";

/** The tenant's rate limit lasts longer than the caller may wait. The call was not made, so repeating it is safe. */
export function rateLimited(waitMs: number): Fault {
  return busy("The tenant's rate limit is reached", waitMs, { status: 429 });
}

/** Nothing was sent. */
function crowded(waitMs: number): Fault {
  return busy("Too many calls to this tenant are running", waitMs, {});
}

function busy(what: string, waitMs: number, more: Record<string, unknown>): Fault {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return fault("rate_limit", `${what}. Try again in ${seconds} s.`, {
    retryAfterSeconds: seconds,
    ctx: { ...more, retry_after_seconds: seconds, what_to_do: `Wait ${seconds} s, then repeat the same call.` },
  });
}

interface Call {
  domain: string;
  userId: string;
}

type Admit = () => void;

interface Tenant {
  inFlight: number;
  /** FIFOs by user; the first user is next. */
  waiting: Map<string, Admit[]>;
  /** End of the tenant's own rate limit window. */
  closedUntil: number;
}

const inFlightPerTenant = 2;
/** Of one user for one tenant: as many calls as one step of an agent makes in parallel. */
const maxWaiting = 64;
/** Of one user: before a check it is unknown who owns the tenant. */
const maxChecks = 4;
const checkRetryMs = 1000;
/** Bounds a closure that the tenant announces by mistake. */
const longestClosureMs = 60_000;
/** Users choose the tenants, so their number is bounded. */
const maxTenants = 1000;

/**
 * Limits the calls of this node to one tenant to two at a time, and stops them while the tenant's rate limit is used up.
 * Any user may name any tenant, so waiting calls are served fairly: one of each user before a second of any.
 */
export class TenantGate {
  readonly #tenants = new Map<string, Tenant>();
  readonly #checks = new Map<string, number>();

  /** Begins the check of a new domain and token. Call the result when it ends. */
  beginCheck(userId: string): () => void {
    const running = this.#checks.get(userId) ?? 0;
    if (running >= maxChecks) throw busy("Too many checks of your tokens are running", checkRetryMs, {});
    this.#checks.set(userId, running + 1);
    return () => {
      const left = (this.#checks.get(userId) ?? 0) - 1;
      if (left > 0) this.#checks.set(userId, left);
      else this.#checks.delete(userId);
    };
  }

  /** Milliseconds until the tenant accepts calls again; 0 if it does. */
  closedFor(domain: string, now: number): number {
    return Math.max(0, (this.#tenants.get(domain)?.closedUntil ?? 0) - now);
  }

  close(domain: string, until: number, now: number): void {
    const tenant = this.#tenantOf(domain);
    tenant.closedUntil = Math.max(tenant.closedUntil, Math.min(until, now + longestClosureMs));
  }

  /** Resolves with a function that frees the slot. Rejects if no slot is free within `waitMs`, or on abort. */
  enter({ domain, userId }: Call, waitMs: number, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    const tenant = this.#tenantOf(domain);
    if (tenant.inFlight < inFlightPerTenant && tenant.waiting.size === 0) {
      tenant.inFlight++;
      return Promise.resolve(this.#leave(domain, tenant));
    }
    const queue = tenant.waiting.get(userId) ?? [];
    if (queue.length >= maxWaiting) return Promise.reject(crowded(waitMs));
    return new Promise((resolve, reject) => {
      const giveUp = (reason: unknown) => {
        queue.splice(queue.indexOf(admit), 1);
        if (queue.length === 0) tenant.waiting.delete(userId);
        settle();
        reject(reason);
      };
      const onAbort = () => giveUp(signal?.reason);
      const timer = setTimeout(() => giveUp(crowded(waitMs)), waitMs);
      const settle = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
      };
      const admit = () => {
        settle();
        resolve(this.#leave(domain, tenant));
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      queue.push(admit);
      tenant.waiting.set(userId, queue);
    });
  }

  #tenantOf(domain: string): Tenant {
    const known = this.#tenants.get(domain);
    if (known) return known;
    if (this.#tenants.size >= maxTenants) this.#forgetIdle();
    const tenant: Tenant = { inFlight: 0, waiting: new Map(), closedUntil: 0 };
    this.#tenants.set(domain, tenant);
    return tenant;
  }

  #leave(domain: string, tenant: Tenant): () => void {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      // The next call takes over the slot, which never becomes free in between.
      const admit = nextOf(tenant);
      if (admit) admit();
      else {
        tenant.inFlight--;
        if (tenant.inFlight === 0 && tenant.closedUntil === 0) this.#tenants.delete(domain);
      }
    };
  }

  #forgetIdle(): void {
    for (const [domain, tenant] of this.#tenants) {
      if (tenant.inFlight === 0 && tenant.waiting.size === 0) this.#tenants.delete(domain);
    }
  }
}

/** Takes the first call of the next user and moves that user to the end. */
function nextOf({ waiting }: Tenant): Admit | undefined {
  for (const [userId, queue] of waiting) {
    const next = queue.shift();
    waiting.delete(userId);
    if (queue.length > 0) waiting.set(userId, queue);
    return next;
  }
  return undefined;
}

const longestBackoffMs = 60_000;

/** End of the rate limit window, if the tenant's limit is used up. */
export function spentUntil(headers: NetHeaders): number | undefined {
  return numberIn(headers, "x-ratelimit-remaining") === 0 ? resetAt(headers) : undefined;
}

function resetAt(headers: NetHeaders): number | undefined {
  const seconds = numberIn(headers, "x-ratelimit-reset");
  return seconds === undefined ? undefined : seconds * 1000;
}

/** `Retry-After` (seconds or date), else the end of the rate limit window, else exponential backoff. `random` adds jitter. */
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
