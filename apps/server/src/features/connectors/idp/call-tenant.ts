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
  /** Owner of the connector. */
  userId: string;
  domain: string;
  token: string;
}

/** An answer other than success. `tenant-errors.rules.ts` explains it to the caller. */
export class TenantRefusal extends Error {
  readonly status: number;
  readonly body: unknown;

  constructor(status: number, body: unknown) {
    super(`tenant answered ${status}`);
    this.name = "TenantRefusal";
    this.status = status;
    this.body = body;
  }
}

/** The tenant failed or timed out: whether the call had an effect is unknown. */
export function isOutage(status: number): boolean {
  return status >= 500 || status === 408;
}

export interface TenantAnswer {
  status: number;
  /** Null for an empty answer, common after writes. */
  body: unknown;
}

/** Time that one action may wait, over all its calls and retries. */
export class WaitBudget {
  #left: number;

  constructor(milliseconds: number) {
    this.#left = milliseconds;
  }

  get left(): number {
    return this.#left;
  }

  /** Spends nothing and returns false if less is left. */
  spend(milliseconds: number): boolean {
    if (milliseconds > this.#left) return false;
    this.#left -= milliseconds;
    return true;
  }
}

export interface TenantLimits {
  /** Of one call, with its body. */
  callMs: number;
  /** Of all waits of an action. */
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
    throw signal?.aborted ? signal.reason : error;
  });
};

const mostRetries = 2;
const mostRateLimitRetries = 4;

/**
 * Sends one call and retries it if that is safe: after a 429 always, because the tenant did nothing; after a 5xx or without
 * an answer only a GET, because a write may have had an effect.
 *
 *   wait until open ──► wait for a slot ───► send ──► 2xx: answer
 *        ▲                                    ├── 429, budget left ────► wait ─┐
 *        │                                    ├── GET and 5xx, 408, no answer ─┤
 *        └────────────────────────────────────│────────────────────────────────┘
 *                                             └── else: TenantRefusal, NetError, or the fault `rate_limit`
 */
export async function callTenant(
  deps: CallerDeps,
  tenant: Tenant,
  request: TenantRequest,
  { budget, signal }: { budget: WaitBudget; signal?: AbortSignal | undefined },
): Promise<TenantAnswer> {
  let [failures, refusals] = [0, 0];
  for (;;) {
    const answer = await sendOnce(deps, tenant, request, budget, signal).catch((error: unknown) => {
      if (!(error instanceof NetError) || !mayRepeat(request, error) || failures >= mostRetries) throw error;
      return error;
    });
    const now = deps.clock.now().getTime();
    if (answer instanceof NetError) {
      const wait = waitBeforeRetry({}, failures++, now, deps.random());
      if (!budget.spend(wait)) throw answer;
      await deps.sleep(wait, signal);
      continue;
    }
    const { status, headers, body } = answer;
    if (status >= 200 && status < 300) return { status, body };
    if (status === 429) {
      const wait = waitBeforeRetry(headers, refusals++, now, deps.random());
      if (refusals > mostRateLimitRetries || !budget.spend(wait)) throw rateLimited(wait);
      await deps.sleep(wait, signal);
      continue;
    }
    if (request.method === "GET" && isOutage(status) && failures < mostRetries) {
      const wait = waitBeforeRetry(headers, failures++, now, deps.random());
      if (budget.spend(wait)) {
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
  budget: WaitBudget,
  signal: AbortSignal | undefined,
): Promise<{ status: number; headers: NetHeaders; body: unknown }> {
  const leave = await enterWhenOpen(deps, tenant, budget, signal);
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
  budget: WaitBudget,
  signal: AbortSignal | undefined,
): Promise<() => void> {
  for (;;) {
    const started = clock.now().getTime();
    const leave = await gate.enter(tenant, budget.left, signal);
    const now = clock.now().getTime();
    budget.spend(Math.min(budget.left, Math.max(0, now - started)));
    const closed = gate.closedFor(tenant.domain, now);
    if (closed === 0) return leave;
    leave();
    if (!budget.spend(closed)) throw rateLimited(closed);
    await sleep(closed, signal);
  }
}

/** Far beyond any record. Masking and cutting recurse, so deeper answers could overflow the stack. */
const deepestAnswer = 200;

/** An error that is not JSON, or nested too deeply, is kept as text. A success must be proper JSON. */
function parsed(status: number, text: string): unknown {
  if (text.trim() === "") return null;
  const isSuccess = status >= 200 && status < 300;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's message would quote the answer.
    if (isSuccess) throw new NetError("cut", "The tenant's answer is not JSON");
    return text.slice(0, 500);
  }
  if (isWithinDepth(value, deepestAnswer)) return value;
  if (isSuccess) throw new NetError("too_large", "The tenant's answer is nested too deeply");
  return text.slice(0, 500);
}

export interface IdpContext extends CallerDeps {
  database: Database;
  vault: Vault;
  log: Log;
}
