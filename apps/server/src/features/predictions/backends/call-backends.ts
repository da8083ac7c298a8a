import { backendsOf, type ListedBackend } from "@gantry/wire";
import type { ModelResult } from "../../../engines/models/driver.ts";
import { backoffAfter, type Failover, failoverOf, longestWaitMs, verdictOf } from "../../../engines/models/failover.ts";
import type { Telemetry } from "../../../engines/telemetry/telemetry.ts";
import { Fault, fault, isUnavailable } from "../../../kernel/errors.ts";
import { sleep } from "../../../kernel/sleep.ts";
import type { Model } from "../../models/index.ts";
import type { BackendAddress } from "./backend-store.ts";
import type { Capacity, Ticket } from "./capacity.ts";
import { inRandomOrder, runsOnce } from "./choose-backend.rules.ts";
import type { CircuitCall, Circuits } from "./circuits.ts";
import type { BackendFigures } from "./figures.ts";

/** The current try of a call. After the call, the last one. */
export interface Attempt {
  /** Undefined before the first try. */
  backend: ListedBackend | undefined;
  /** Undefined while the call waits. Only time at a backend is charged. */
  startedAt: number | undefined;
  /** Also aborts if the backend takes too long. */
  signal: AbortSignal;
  /** The backend's secrets were found. */
  hasDriver: boolean;
  onBegun: (() => void) | undefined;
}

export interface ListedCall {
  model: Model;
  /** Aborts when the prediction is stopped. */
  signal: AbortSignal;
  attempt: Attempt;
  /** Calls `attempt.backend`. */
  run(): Promise<ModelResult>;
}

export interface CallDeps {
  circuits: Circuits;
  capacity: Capacity;
  figures: BackendFigures;
  telemetry: Telemetry;
}

/** As many as the tries of a model with a single backend. */
const mostPasses = 3;
/** How long a driver may take to end after its signal. */
const abortGraceMs = 250;

/**
 * Calls the backends of a model until one has begun its answer. Each pass tries all of them once: by priority and weight,
 * without those that are full or have an open circuit. Of the open ones the best is tried if no other one answers.
 *
 *   pass ──answer begun──► result, or its failure
 *    │ ▲ └─ not to be answered by another backend ──► failure
 *    │ └─ backoff, or the time that backends asked for ── failed, and passes are left
 *    │ └─ a slot is free ─────────────────────────────── full
 *    └─ failed in the last pass ──► failure
 */
export async function callListed(deps: CallDeps, call: ListedCall): Promise<ModelResult> {
  const route = new Route(deps, call);
  try {
    return await route.result();
  } finally {
    route.leave();
  }
}

class Route {
  readonly #deps: CallDeps;
  readonly #call: ListedCall;
  readonly #listed: readonly ListedBackend[];
  /** Not tried again within this call. */
  readonly #givenUp = new Set<string>();
  readonly #notBefore = new Map<string, number>();
  #failure: unknown;
  #lastFailed: { backend: string; reason: string } | undefined;
  #ticket: Ticket | undefined;
  /** Of the current pass. */
  #full = 0;
  #open: ListedBackend[] = [];

  constructor(deps: CallDeps, call: ListedCall) {
    this.#deps = deps;
    this.#call = call;
    this.#listed = backendsOf(call.model.manifest);
  }

  async result(): Promise<ModelResult> {
    // The driver of a single backend makes its own tries.
    const passes = this.#listed.length > 1 ? mostPasses : 1;
    for (let pass = 1; ; ) {
      const result = await this.#pass();
      if (result) return result;
      if (this.#full > 0 && (this.#failure === undefined || pass >= passes)) {
        await this.#awaitSlot();
        continue;
      }
      const waitMs = pass < passes ? this.#waitAfter(pass) : undefined;
      if (waitMs === undefined) throw this.#failure;
      this.#call.attempt.startedAt = undefined;
      await sleep(waitMs, this.#call.signal);
      pass++;
    }
  }

  leave(): void {
    this.#ticket?.leave();
    this.#ticket = undefined;
  }

  async #pass(): Promise<ModelResult | undefined> {
    this.#full = 0;
    this.#open = [];
    const now = performance.now();
    for (const backend of inRandomOrder(this.#remaining())) {
      if ((this.#notBefore.get(backend.name) ?? 0) > now) continue;
      const result = await this.#try(backend, false);
      if (result) return result;
    }
    const [best] = this.#open.sort((a, b) => a.priority - b.priority);
    return this.#full === 0 && best ? this.#try(best, true) : undefined;
  }

  #remaining(): ListedBackend[] {
    return this.#listed.filter(({ name }) => !this.#givenUp.has(name));
  }

  /** Undefined if no backend is worth another pass. */
  #waitAfter(pass: number): number | undefined {
    const remaining = this.#remaining();
    if (remaining.length === 0) return undefined;
    const now = performance.now();
    const asked = Math.min(...remaining.map(({ name }) => (this.#notBefore.get(name) ?? now) - now));
    return asked > longestWaitMs ? undefined : Math.max(asked, backoffAfter(pass));
  }

  async #awaitSlot(): Promise<void> {
    const { attempt, model, signal } = this.#call;
    attempt.startedAt = undefined;
    const since = performance.now();
    this.#ticket ??= this.#deps.capacity.queue(model.id);
    try {
      await this.#ticket.turn(signal);
    } finally {
      this.#deps.telemetry.backendAwaited(performance.now() - since);
    }
  }

  /** Undefined if another backend may be tried. `anyway`: its circuit is open. */
  async #try(backend: ListedBackend, anyway: boolean): Promise<ModelResult | undefined> {
    const { circuits, capacity } = this.#deps;
    const { model, signal, attempt } = this.#call;
    const address = { modelId: model.id, backend: backend.name };
    signal.throwIfAborted();
    const state = this.#listed.length > 1 ? circuits.state(address) : "closed";
    if (!anyway && state === "open") {
      this.#open.push(backend);
      return undefined;
    }
    attempt.startedAt = undefined;
    const slot =
      backend.capacity === undefined ? noSlot : await capacity.claim(address, backend.capacity, this.#ticket);
    if (!slot) {
      this.#full++;
      return undefined;
    }
    try {
      const isProbe = state === "due" && (await circuits.claimProbe(address));
      if (state === "due" && !isProbe && !anyway) {
        this.#open.push(backend);
        return undefined;
      }
      this.leave();
      return await this.#run(backend, address, isProbe);
    } finally {
      slot.free();
    }
  }

  async #run(backend: ListedBackend, address: BackendAddress, isProbe: boolean): Promise<ModelResult | undefined> {
    const { circuits, figures, telemetry } = this.#deps;
    const { attempt, model, signal } = this.#call;
    const slow = new AbortController();
    const { timeout_seconds: seconds } = backend;
    const timer = seconds === undefined ? undefined : setTimeout(() => slow.abort(tooSlow(seconds)), seconds * 1000);
    if (this.#lastFailed) telemetry.failedOver(model.endpointId, this.#lastFailed.backend, this.#lastFailed.reason);
    const startedAt = performance.now();
    const tried = { startedAt, isProbe };
    let latencyMs: number | undefined;
    const begun = () => {
      if (latencyMs !== undefined || slow.signal.aborted) return;
      latencyMs = performance.now() - startedAt;
      clearTimeout(timer);
      circuits.answered(address, tried);
    };
    Object.assign(attempt, { backend, startedAt, hasDriver: false, onBegun: begun });
    attempt.signal = AbortSignal.any([signal, slow.signal]);
    try {
      const result = await Promise.race([this.#call.run(), rejectedAfter(slow.signal)]);
      // Not every driver reports the beginning.
      begun();
      figures.answered(address, latencyMs ?? 0);
      telemetry.backendCalled(model.endpointId, backend.name, undefined);
      return result;
    } catch (error) {
      if (signal.aborted) {
        if (latencyMs === undefined) this.#stopped(address, tried);
        throw error;
      }
      const failure = slow.signal.aborted ? slow.signal.reason : error;
      const failover = latencyMs === undefined ? this.#failoverOf(backend, failure) : undefined;
      this.#count(address, tried, { failure, failover, latencyMs });
      if (!failover) throw failure;
      this.#failed(backend, failure, failover);
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  #failoverOf(backend: ListedBackend, failure: unknown): Failover | undefined {
    if (failure instanceof TooSlow) return { reason: "timeout", isBusy: false, mayRepeat: false };
    const isSecretMissing = !this.#call.attempt.hasDriver && failure instanceof Fault && !isUnavailable(failure);
    if (isSecretMissing) return { reason: "secret", isBusy: false, mayRepeat: false };
    return failoverOf(failure, { runsOnce: runsOnce(backend) });
  }

  #count(
    address: BackendAddress,
    tried: CircuitCall,
    {
      failure,
      failover,
      latencyMs,
    }: { failure: unknown; failover: Failover | undefined; latencyMs: number | undefined },
  ): void {
    const { circuits, figures, telemetry } = this.#deps;
    const verdict = failover?.isBusy ? "answered" : failover ? "failed" : verdictOf(failure);
    const reason = verdict === "failed" ? (failover?.reason ?? "failed") : undefined;
    if (verdict !== "unknown" && !failover?.isBusy) {
      telemetry.backendCalled(this.#call.model.endpointId, address.backend, reason);
      if (reason === undefined) figures.answered(address, latencyMs ?? performance.now() - tried.startedAt);
      else figures.failed(address);
    }
    if (latencyMs !== undefined || this.#listed.length === 1) return;
    if (reason !== undefined) circuits.failed(address, tried, { reason, retryAfterMs: failover?.retryAfterMs });
    else if (verdict === "answered") circuits.answered(address, tried);
    else if (tried.isProbe) circuits.abandoned(address);
  }

  #failed({ name }: ListedBackend, failure: unknown, { reason, isBusy, mayRepeat, retryAfterMs }: Failover): void {
    if (isBusy) {
      this.#full++;
      return;
    }
    if (!mayRepeat) this.#givenUp.add(name);
    if (retryAfterMs !== undefined) this.#notBefore.set(name, performance.now() + retryAfterMs);
    this.#lastFailed = { backend: name, reason };
    // A client that may try again should know it.
    const isBetter = this.#failure instanceof Fault && this.#failure.retryable;
    if (!isBetter || (failure instanceof Fault && failure.retryable)) this.#failure = failure;
  }

  /**
   * A backend that did not begin within the time limit of the model has failed, unless other backends or the wait for a
   * slot used up most of that time. A cancelled call says nothing.
   */
  #stopped(address: BackendAddress, tried: CircuitCall): void {
    const { circuits, figures, telemetry } = this.#deps;
    const { reason } = this.#call.signal;
    const fairShareMs = (this.#call.model.manifest.timeout_seconds * 1000) / 2;
    const hadTime = performance.now() - tried.startedAt >= fairShareMs;
    if (hadTime && reason instanceof Fault && reason.type === "generation_timeout") {
      figures.failed(address);
      telemetry.backendCalled(this.#call.model.endpointId, address.backend, "timeout");
      if (this.#listed.length > 1) circuits.failed(address, tried, { reason: "timeout" });
    } else if (tried.isProbe) circuits.abandoned(address);
  }
}

const noSlot = { free() {} };

/** The abort reason of a backend that did not begin its answer in time. */
class TooSlow extends Fault {}

function tooSlow(seconds: number): TooSlow {
  const { issues } = fault(
    "downstream_service_unavailable",
    `The service behind the model did not begin its answer within ${seconds} seconds.`,
  );
  return new TooSlow(issues);
}

/** For drivers that ignore their signal. */
function rejectedAfter(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => setTimeout(() => reject(signal.reason), abortGraceMs), { once: true });
  });
}
