import type { ErrorType, RunErrorType } from "@gantry/wire";

/** Spans go to third parties: no credentials or paths with ids, and content only if `capturesContent`. */
export type Attributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

const mostContentChars = 16 * 1024;

/** A text for an attribute. Collectors refuse large ones. */
export function boundedContent(text: string): string {
  return text.length <= mostContentChars ? text : `${text.slice(0, mostContentChars).toWellFormed()}…`;
}

/** W3C Trace Context. */
export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly sampled: boolean;
  /** Undefined for the root span. */
  readonly parentSpanId?: string | undefined;
  /** `tracestate`, passed on unchanged. */
  readonly state?: string | undefined;
}

/** A request, a job or a delivery. `within` carries it in the async context, so that callees need no argument. */
export interface Activity {
  /** The current span. */
  readonly span: SpanContext | undefined;
  /** Shared by all spans of the activity. */
  readonly figures: ActivityFigures;
}

export interface ActivityFigures {
  predictionId: string | undefined;
  /** Set if the client waits for a prediction on this connection. Enables the measurement of added latency. */
  way: Way | undefined;
  /** Time of the model's backend. */
  modelMs: number;
  /** Time waiting for a slot of the model. */
  waitedMs: number;
}

export type Way = "sync" | "stream" | "async" | "agent";

export interface SpanOptions {
  name: string;
  kind?: "internal" | "server" | "client" | "producer" | "consumer";
  attributes?: Attributes;
}

export interface Span {
  set(attributes: Attributes): void;
  /** `type` must have few values, such as error types. */
  fail(type: string): void;
}

export interface RequestEnd {
  method: string;
  /** The template of the route, never the path. Undefined if no route matched. */
  route: string | undefined;
  /** Undefined if the client disconnected before the answer was complete. */
  status: number | undefined;
  requestId: string;
}

export interface EndedFigures {
  /** Undefined: done. */
  failure: ErrorType | undefined;
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number;
  cacheWriteTokens: number;
  chargedMicros: number;
}

/** A call to a model in the terms of OpenTelemetry's conventions for generative AI. */
export interface ModelCallFigures {
  operation: string;
  provider: string;
  /** The name at the provider. Empty for backends with one model. */
  model: string;
  inputTokens?: number | undefined;
  outputTokens?: number | undefined;
}

export type WebhookOutcome = "delivered" | "retried" | "failed" | "gone";

/** Described in gauges.ts. */
export type GaugeName =
  | "processesServing"
  | "processesMissing"
  | "databaseUp"
  | "databaseFull"
  | "databaseConnectionsIdle"
  | "databaseConnectionsBusy"
  | "databaseQueriesWaiting"
  | "predictionsWaiting"
  | "predictionsRunning"
  | "jobsQueued"
  | "predictionsHeld"
  | "workerSlots"
  | "nodesAlive"
  | "heartbeatAgeSeconds"
  | "runsWaiting"
  | "runsRunning"
  | "runsAsking"
  | "runsDelegating"
  | "runsOldestWaitSeconds"
  | "runsHeld"
  | "runSlots"
  | "webhooksPending"
  | "circuitsOpen";

export type Gauges = Partial<Record<GaugeName, number>> & { postgres?: PostgresInfo };

export interface PostgresInfo {
  /** "18.4". */
  version: string;
  isEmbedded: boolean;
}

/**
 * The telemetry port: metrics and traces of features, surfaces and engines. Every measurement is on the path of a request:
 * it costs some tens of nanoseconds, never waits and never throws. Label values are bounded: route templates, error types,
 * backend types; never an id or a user. Of models, only the first thousand are named.
 */
export interface Telemetry {
  /** The operator wants prompts, answers, and arguments and results of tools in spans. */
  readonly capturesContent: boolean;

  /** Takes the client's headers of W3C Trace Context. */
  requestStarted(traceparent: string | undefined, tracestate: string | undefined): Activity & { startedAt: number };
  requestEnded(activity: Activity & { startedAt: number }, end: RequestEnd): void;

  batchWritten(step: "admission" | "settlement", items: number, milliseconds: number): void;
  admissionRefused(type: ErrorType): void;
  slotAwaited(way: Way, milliseconds: number): void;
  /** `backend` is the type of the backend. */
  modelCalled(backend: string, milliseconds: number, failure: ErrorType | undefined, figures?: ModelCallFigures): void;
  /** A try at one of the backends that a model lists. `failure` is a status, or why no answer arrived. */
  backendCalled(model: string, backend: string, failure: string | undefined): void;
  /** Another backend is tried after this one failed. */
  failedOver(model: string, backend: string, reason: string): void;
  /** All backends of a model were full. */
  backendAwaited(milliseconds: number): void;
  predictionEnded(figures: EndedFigures): void;
  /** `failure` is undefined for a run with an output. */
  runEnded(failure: RunErrorType | undefined): void;
  webhookAttempted(outcome: WebhookOutcome, milliseconds: number): void;
  /** The first bytes of an input file were not enough. */
  fileInspected(work: "probe" | "decode"): void;

  /** Sets the prediction of the current activity, for its log line, span and added latency. */
  concerns(predictionId: string, way: Way): void;
  /** Runs the work as part of the activity. */
  within<T>(activity: Activity, work: () => T): T;
  /** Continues the trace in which a job or a delivery was created, with the value of `traceparent()` from there. */
  resumed(traceparent: string | null | undefined): Activity;
  /** Runs the work in a new span, if this activity is traced. A rejection marks the span as failed. */
  inSpan<T>(describe: () => SpanOptions, work: (span: Span) => Promise<T>): Promise<T>;
  /** Runs work that no request began in a span that begins a trace. A rejection marks the span as failed. */
  inTrace<T>(describe: () => SpanOptions, work: () => Promise<T>): Promise<T>;
  /** Records a span afterwards. Times in milliseconds since 1970. */
  past(describe: () => SpanOptions & { from: number; until: number }): void;
  /** The current span, to pass on. Undefined outside of a trace. */
  traceparent(): string | undefined;
  tracestate(): string | undefined;
  /** The id of the current trace if it is recorded. */
  traceId(): string | undefined;
}

const nowhere: Activity = {
  span: undefined,
  figures: { predictionId: undefined, way: undefined, modelMs: 0, waitedMs: 0 },
};
export const silentSpan: Span = { set() {}, fail() {} };

/** Measures nothing. For tests and tools. */
export const noTelemetry: Telemetry = {
  capturesContent: false,
  requestStarted: () => ({ ...nowhere, startedAt: 0 }),
  requestEnded() {},
  batchWritten() {},
  admissionRefused() {},
  slotAwaited() {},
  modelCalled() {},
  backendCalled() {},
  failedOver() {},
  backendAwaited() {},
  predictionEnded() {},
  runEnded() {},
  webhookAttempted() {},
  fileInspected() {},
  concerns() {},
  within: (_activity, work) => work(),
  resumed: () => nowhere,
  inSpan: (_describe, work) => work(silentSpan),
  inTrace: (_describe, work) => work(),
  past() {},
  traceparent: () => undefined,
  tracestate: () => undefined,
  traceId: () => undefined,
};
