import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Activity,
  type Attributes,
  type Span,
  type SpanContext,
  type SpanOptions,
  silentSpan,
  type Telemetry,
} from "./telemetry.ts";
import { formatTraceparent, newSpanId, newTraceId, parseTraceparent } from "./trace-context.ts";

export interface FinishedSpan {
  context: SpanContext;
  name: string;
  kind: NonNullable<SpanOptions["kind"]>;
  /** Milliseconds since 1970. */
  from: number;
  until: number;
  attributes: Attributes;
  failure: string | undefined;
}

/** Never waits. */
export interface SpanSink {
  add(span: FinishedSpan): void;
}

export interface Tracer
  extends Pick<
    Telemetry,
    "within" | "resumed" | "inSpan" | "inTrace" | "past" | "traceparent" | "tracestate" | "traceId"
  > {
  /** `end` records the first span. If nothing is recorded, the activity passes the parent on. */
  begin(traceparent: string | undefined, tracestate: string | undefined): Activity;
  end(activity: Activity, span: Omit<FinishedSpan, "context" | "until">): void;
  current(): Activity | undefined;
  /** The wall clock, with fractions of a millisecond. */
  now(): number;
}

class OpenSpan implements Span {
  attributes: Record<string, Attributes[string]>;
  failure: string | undefined;

  constructor(attributes: Attributes | undefined) {
    this.attributes = { ...attributes };
  }

  set(attributes: Attributes): void {
    Object.assign(this.attributes, attributes);
  }

  fail(type: string): void {
    this.failure = type;
  }
}

/**
 * Without a sink nothing is recorded, and the client's trace is passed on unchanged. The client decides whether to record;
 * without its decision, `ratio` of new traces are recorded.
 */
export function createTracer(sink: SpanSink | undefined, ratio: number): Tracer {
  const activities = new AsyncLocalStorage<Activity>();
  // The monotonic clock has fractions, and the wall clock may be set at any time.
  let origin = performance.timeOrigin;
  const now = (): number => origin + performance.now();
  if (sink) {
    setInterval(() => {
      const found = Date.now() - performance.now();
      if (Math.abs(found - origin) > 50) origin = found;
    }, 10_000).unref();
  }

  const childOf = (parent: SpanContext): SpanContext => ({
    ...parent,
    spanId: newSpanId(),
    parentSpanId: parent.spanId,
  });

  function first(parent: SpanContext | undefined): SpanContext | undefined {
    if (!sink) return parent;
    if (parent) return parent.sampled ? childOf(parent) : parent;
    return { traceId: newTraceId(), spanId: newSpanId(), sampled: ratio >= 1 || Math.random() < ratio };
  }

  async function recorded<T>(
    to: SpanSink,
    outer: Activity,
    context: SpanContext,
    { name, kind = "internal", attributes }: SpanOptions,
    work: (span: Span) => Promise<T>,
  ): Promise<T> {
    const span = new OpenSpan(attributes);
    const from = now();
    try {
      return await activities.run({ span: context, figures: outer.figures }, () => work(span));
    } catch (error) {
      span.failure ??= typeOf(error);
      throw error;
    } finally {
      to.add({ context, name, kind, from, until: now(), attributes: span.attributes, failure: span.failure });
    }
  }

  const activityOn = (span: SpanContext | undefined): Activity => ({
    span,
    figures: { predictionId: undefined, way: undefined, modelMs: 0, waitedMs: 0 },
  });

  return {
    now,
    current: () => activities.getStore(),
    begin: (traceparent, tracestate) => activityOn(first(parseTraceparent(traceparent, tracestate))),
    end({ span }, finished) {
      if (sink && span?.sampled) sink.add({ ...finished, context: span, until: now() });
    },
    within: (activity, work) => activities.run(activity, work),
    resumed: (traceparent) => activityOn(parseTraceparent(traceparent)),
    inSpan(describe, work) {
      if (!sink) return work(silentSpan);
      const outer = activities.getStore();
      if (!outer?.span?.sampled) return work(silentSpan);
      return recorded(sink, outer, childOf(outer.span), describe(), work);
    },
    inTrace(describe, work) {
      if (!sink) return work();
      const context = first(undefined);
      const activity = activityOn(context);
      if (!context?.sampled) return activities.run(activity, work);
      return recorded(sink, activity, context, describe(), work);
    },
    past(describe) {
      const parent = sink && activities.getStore()?.span;
      if (!parent?.sampled) return;
      const { name, kind = "internal", attributes = {}, from, until } = describe();
      sink?.add({ context: childOf(parent), name, kind, from, until, attributes, failure: undefined });
    },
    traceparent() {
      const span = activities.getStore()?.span;
      return span && formatTraceparent(span);
    },
    tracestate: () => activities.getStore()?.span?.state,
    traceId() {
      const span = sink && activities.getStore()?.span;
      return span?.sampled ? span.traceId : undefined;
    },
  };
}

/** Without the text of the error, which may quote user data. */
function typeOf(error: unknown): string {
  if (typeof error === "object" && error !== null && "type" in error && typeof error.type === "string")
    return error.type;
  return error instanceof Error ? error.name : "error";
}
