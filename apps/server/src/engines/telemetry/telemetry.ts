import type { ErrorType, RunErrorType } from "@gantry/wire";

/** Of a span. No prompt, no credential, no path with ids in it: spans leave the house. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Where in a trace something happens, after W3C Trace Context. */
export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly sampled: boolean;
  /** The span that it hangs on; undefined for the first of a trace. */
  readonly parentSpanId?: string | undefined;
  /** `tracestate` as it came; others' business. */
  readonly state?: string | undefined;
}

/**
 * One thing under way: a request, a job, a delivery. It is carried by the async context from `within` on, so that
 * whoever measures deep inside needs no argument for it.
 */
export interface Activity {
  /** The span that whatever happens now belongs to. */
  readonly span: SpanContext | undefined;
  /** Shared by all spans of the activity. */
  readonly figures: ActivityFigures;
}

export interface ActivityFigures {
  predictionId: string | undefined;
  /** Set where the client waits for a prediction on this connection: then added latency is measured. */
  way: Way | undefined;
  /** What the backend of a model took. */
  modelMs: number;
  /** What was waited for the capacity of a model. */
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
  /** Marks it as failed; `type` is one of few, e.g. an error type. */
  fail(type: string): void;
}

export interface RequestEnd {
  method: string;
  /** The template of the route; undefined where none matched. Never the path. */
  route: string | undefined;
  /** Undefined when the client left before the answer was complete. */
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

export type WebhookOutcome = "delivered" | "retried" | "failed" | "gone";

/** What an operator wants to know of the moment of a scrape; see gauges.ts for what each is. */
export type GaugeName =
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
  | "webhooksPending";

export type Gauges = Partial<Record<GaugeName, number>> & { postgres?: PostgresInfo };

export interface PostgresInfo {
  /** As the server says it: "18.4". */
  version: string;
  isEmbedded: boolean;
}

/**
 * The telemetry port: what features, surfaces and engines tell about their work, and how a trace travels with it.
 * Every measuring point lies on the path of a request: it costs some tens of nanoseconds, never waits and never throws.
 * What may stand in a label is bounded: templates of routes, error types, backend types; never an id, a user or a model.
 */
export interface Telemetry {
  /** Called by the HTTP server when a request has come; the headers are W3C Trace Context, where the client has one. */
  requestStarted(traceparent: string | undefined, tracestate: string | undefined): Activity & { startedAt: number };
  requestEnded(activity: Activity & { startedAt: number }, end: RequestEnd): void;

  batchWritten(step: "admission" | "settlement", items: number, milliseconds: number): void;
  admissionRefused(type: ErrorType): void;
  slotAwaited(way: Way, milliseconds: number): void;
  /** A backend has answered, or not; `backend` is its type. `failure` is undefined for an answer. */
  modelCalled(backend: string, milliseconds: number, failure: ErrorType | undefined): void;
  predictionEnded(figures: EndedFigures): void;
  /** A run of an agent has ended; `failure` is undefined where it has an output. */
  runEnded(failure: RunErrorType | undefined): void;
  webhookAttempted(outcome: WebhookOutcome, milliseconds: number): void;
  /** An input file needed more than a look at its head. */
  fileInspected(work: "probe" | "decode"): void;

  /** Says what the present activity is about, for its log line, its span and its added latency. */
  concerns(predictionId: string, way: Way): void;
  /** Runs the work as part of the activity. */
  within<T>(activity: Activity, work: () => T): T;
  /** An activity that goes on where a job or a delivery was made; `traceparent` is what `traceparent()` said there. */
  resumed(traceparent: string | null | undefined): Activity;
  /** Runs the work in a span of its own, if this activity is traced; a rejection marks it as failed. */
  inSpan<T>(describe: () => SpanOptions, work: (span: Span) => Promise<T>): Promise<T>;
  /** A span that is told of afterwards; times in milliseconds since 1970. */
  past(describe: () => SpanOptions & { from: number; until: number }): void;
  /** Of the present span, to be handed on; undefined outside of any trace. */
  traceparent(): string | undefined;
  tracestate(): string | undefined;
}

const nowhere: Activity = {
  span: undefined,
  figures: { predictionId: undefined, way: undefined, modelMs: 0, waitedMs: 0 },
};
export const silentSpan: Span = { set() {}, fail() {} };

/** Measures nothing: for tests and tools that run a part without the rest. */
export const noTelemetry: Telemetry = {
  requestStarted: () => ({ ...nowhere, startedAt: 0 }),
  requestEnded() {},
  batchWritten() {},
  admissionRefused() {},
  slotAwaited() {},
  modelCalled() {},
  predictionEnded() {},
  runEnded() {},
  webhookAttempted() {},
  fileInspected() {},
  concerns() {},
  within: (_activity, work) => work(),
  resumed: () => nowhere,
  inSpan: (_describe, work) => work(silentSpan),
  past() {},
  traceparent: () => undefined,
  tracestate: () => undefined,
};
