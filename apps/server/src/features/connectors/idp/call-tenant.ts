import { setTimeout as sleepFor } from "node:timers/promises";
import type { Database } from "../../../engines/database/database.ts";
import { type Net, NetError, type NetHeaders } from "../../../engines/net/net.ts";
import type { Vault } from "../../../engines/vault/vault.ts";
import type { Clock } from "../../../kernel/clock.ts";
import type { Log } from "../../../kernel/log.ts";
import { isWithinDepth } from "../../../kernel/storable-issues.ts";
import type { TenantRequest } from "./build-request.rules.ts";
import { rateLimited, spentUntil, type TenantGate, waitBeforeRetry } from "./tenant-gate.ts";

export interface Tenant {
  /** Who calls it, by a connector of its own. */
  userId: string;
  domain: string;
  token: string;
}

/** The tenant answered, but not with success. What it means to the caller is decided in `tenant-errors.rules.ts`. */
export class TenantRefusal extends Error {
  readonly status: number;
  readonly body: unknown;

  constructor(status: number, body: unknown) {
    super(`the tenant answered ${status}`);
    this.name = "TenantRefusal";
    this.status = status;
    this.body = body;
  }
}

/** The tenant itself failed, or lost patience: nobody can tell what it did. */
export function isOutage(status: number): boolean {
  return status >= 500 || status === 408;
}

export interface TenantAnswer {
  status: number;
  /** Null when the answer is empty, which many writes are. */
  body: unknown;
}

/** How long one action may spend waiting, over all its calls and repeats. */
export class Patience {
  #left: number;

  constructor(milliseconds: number) {
    this.#left = milliseconds;
  }

  get left(): number {
    return this.#left;
  }

  /** False when that much is not left; nothing is spent then. */
  spend(milliseconds: number): boolean {
    if (milliseconds > this.#left) return false;
    this.#left -= milliseconds;
    return true;
  }
}

export interface TenantLimits {
  /** One call, from the first byte sent to the last one read. */
  callMs: number;
  /** All waiting of an action. */
  waitMs: number;
  /** Of an answer. */
  maxBytes: number;
}

export const defaultTenantLimits: TenantLimits = { callMs: 20_000, waitMs: 30_000, maxBytes: 8 * 1024 * 1024 };

export interface CallerDeps {
  net: Net;
  gate: TenantGate;
  clock: Clock;
  limits: TenantLimits;
  sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  random: () => number;
}

export const realSleep = async (milliseconds: number, signal?: AbortSignal): Promise<void> => {
  await sleepFor(milliseconds, undefined, signal && { signal }).catch((error: unknown) => {
    // The caller's own reason, as everywhere else.
    throw signal?.aborted ? signal.reason : error;
  });
};

const mostRetries = 2;
const mostRateLimitRetries = 4;

/**
 * Sends one call and repeats it where that is safe: after a 429 always, since the tenant then did nothing; after a 5xx
 * or without an answer only a GET, since a write may have been done.
 *
 *   wait until open ──► wait for a place ──► send ──► 2xx: answer
 *        ▲                                    ├── 429, patience left ──► wait ─┐
 *        │                                    ├── GET and 5xx, 408, no answer ─┤
 *        └────────────────────────────────────│────────────────────────────────┘
 *                                             └── else: TenantRefusal, NetError, or the fault `rate_limit`
 */
export async function callTenant(
  deps: CallerDeps,
  tenant: Tenant,
  request: TenantRequest,
  { patience, signal }: { patience: Patience; signal?: AbortSignal | undefined },
): Promise<TenantAnswer> {
  let [failures, refusals] = [0, 0];
  for (;;) {
    const answer = await sendOnce(deps, tenant, request, patience, signal).catch((error: unknown) => {
      if (!(error instanceof NetError) || !mayRepeat(request, error) || failures >= mostRetries) throw error;
      return error;
    });
    const now = deps.clock.now().getTime();
    if (answer instanceof NetError) {
      const wait = waitBeforeRetry({}, failures++, now, deps.random());
      if (!patience.spend(wait)) throw answer;
      await deps.sleep(wait, signal);
      continue;
    }
    const { status, headers, body } = answer;
    if (status >= 200 && status < 300) return { status, body };
    if (status === 429) {
      const wait = waitBeforeRetry(headers, refusals++, now, deps.random());
      if (refusals > mostRateLimitRetries || !patience.spend(wait)) throw rateLimited(wait);
      await deps.sleep(wait, signal);
      continue;
    }
    if (request.method === "GET" && isOutage(status) && failures < mostRetries) {
      const wait = waitBeforeRetry(headers, failures++, now, deps.random());
      if (patience.spend(wait)) {
        await deps.sleep(wait, signal);
        continue;
      }
    }
    throw new TenantRefusal(status, body);
  }
}

function mayRepeat(request: TenantRequest, error: NetError): boolean {
  return request.method === "GET" && ["timeout", "cut", "unreachable"].includes(error.reason);
}

async function sendOnce(
  deps: CallerDeps,
  tenant: Tenant,
  request: TenantRequest,
  patience: Patience,
  signal: AbortSignal | undefined,
): Promise<{ status: number; headers: NetHeaders; body: unknown }> {
  const leave = await enterWhenOpen(deps, tenant, patience, signal);
  try {
    const { callMs, maxBytes } = deps.limits;
    const response = await deps.net.request({
      url: `https://${tenant.domain}/api/v2${request.path}`,
      method: request.method,
      headers: {
        authorization: `Bearer ${tenant.token}`,
        accept: "application/json",
        "user-agent": "gantry",
        ...(request.body && { "content-type": "application/json" }),
      },
      ...(request.body && { body: JSON.stringify(request.body) }),
      ...(signal && { signal }),
      bounds: { totalMs: callMs, headersMs: callMs, idleMs: callMs, maxBytes },
    });
    const text = await response.body.text();
    const now = deps.clock.now().getTime();
    const spent = spentUntil(response.headers);
    if (spent !== undefined && spent > now) deps.gate.close(tenant.domain, spent, now);
    return { status: response.status, headers: response.headers, body: parsed(response.status, text) };
  } finally {
    leave();
  }
}

async function enterWhenOpen(
  { gate, clock, sleep }: CallerDeps,
  tenant: Tenant,
  patience: Patience,
  signal: AbortSignal | undefined,
): Promise<() => void> {
  for (;;) {
    const started = clock.now().getTime();
    const leave = await gate.enter(tenant, patience.left, signal);
    const now = clock.now().getTime();
    patience.spend(Math.min(patience.left, Math.max(0, now - started)));
    const closed = gate.closedFor(tenant.domain, now);
    if (closed === 0) return leave;
    leave();
    if (!patience.spend(closed)) throw rateLimited(closed);
    await sleep(closed, signal);
  }
}

/** Levels of nesting, far beyond any record: who goes down into what is deeper, to mask or to cut it, never comes back. */
const deepestAnswer = 200;

/**
 * An error page that is no JSON, or one that nobody could go through, is kept as text; a success that is such is no
 * answer of this API.
 */
function parsed(status: number, text: string): unknown {
  if (text.trim() === "") return null;
  const isSuccess = status >= 200 && status < 300;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Why not is not told: the parser's words quote the answer.
    if (isSuccess) throw new NetError("cut", "The tenant's answer is not JSON");
    return text.slice(0, 500);
  }
  if (isWithinDepth(value, deepestAnswer)) return value;
  if (isSuccess) throw new NetError("too_large", "The tenant's answer is nested too deeply");
  return text.slice(0, 500);
}

/** What the use cases of this feature work with. */
export interface IdpContext extends CallerDeps {
  database: Database;
  vault: Vault;
  log: Log;
}
