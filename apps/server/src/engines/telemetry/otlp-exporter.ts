import { sleep } from "../../kernel/sleep.ts";
import type { Net } from "../net/net.ts";
import { nanoseconds, postOtlp, toAttributes } from "./otlp.ts";
import type { Attributes, SpanOptions } from "./telemetry.ts";
import type { FinishedSpan, SpanSink } from "./tracer.ts";

export interface OtlpOptions {
  net: Net;
  /** OTEL_EXPORTER_OTLP_ENDPOINT: the base address of the collector, without `/v1/traces`. */
  endpoint: string;
  headers?: Readonly<Record<string, string>>;
  /** Describes this process: `service.name` and others. */
  resource: Attributes;
  onTrouble(text: string, error: unknown): void;
  onFate(fate: "exported" | "dropped", spans: number): void;
  everyMs?: number;
  pauseMs?: number;
}

export interface OtlpExporter extends SpanSink {
  /** Sends the remaining spans within a few seconds. */
  close(): Promise<void>;
}

/** Further spans are dropped and counted, because a collector that is down must not cost memory. */
const mostWaiting = 8192;
const perCall = 512;
/** Of text in spans. With captured content, one can have 200,000 characters, and collectors refuse large bodies. */
const mostWaitingChars = 32 * 1024 * 1024;
const charsPerCall = 2 * 1024 * 1024;
const callMs = 10_000;
const tries = 4;
const lastCallMs = 3_000;
const kinds: Record<NonNullable<SpanOptions["kind"]>, number> = {
  internal: 1,
  server: 2,
  client: 3,
  producer: 4,
  consumer: 5,
};

/**
 * Sends spans to an OpenTelemetry collector as OTLP over HTTP in JSON, one batch at a time.
 *
 *   waiting ──every 2 s, or a batch is full──► sent ──2xx──► exported
 *      └─ full ──► dropped                       ├─ 429, 502 to 504, no answer: retry after a pause, 4 attempts
 *                                                └─ anything else ──► dropped
 */
export function createOtlpExporter(options: OtlpOptions): OtlpExporter {
  const { net, endpoint, onFate, everyMs = 2_000, pauseMs = 1_000 } = options;
  const url = `${endpoint.replace(/\/+$/, "")}/v1/traces`;
  const { headers } = options;
  const resource = { attributes: toAttributes(options.resource) };
  const waiting: { span: FinishedSpan; chars: number }[] = [];
  let waitingChars = 0;
  const ending = new AbortController();
  let sending: Promise<void> | undefined;
  let isTroubled = false;

  const timer = setInterval(() => send(), everyMs);
  timer.unref();

  function send(): Promise<void> {
    sending ??= sendAll().finally(() => {
      sending = undefined;
    });
    return sending;
  }

  /** The oldest spans that fit into a call, at least one. */
  function takeBatch(): FinishedSpan[] {
    let count = 0;
    let chars = 0;
    for (const one of waiting) {
      if (count === perCall || (count > 0 && chars + one.chars > charsPerCall)) break;
      count += 1;
      chars += one.chars;
    }
    waitingChars -= chars;
    return waiting.splice(0, count).map(({ span }) => span);
  }

  async function sendAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = takeBatch();
      const trouble = await sendBatch(batch);
      onFate(trouble === undefined ? "exported" : "dropped", batch.length);
      // Reported once per outage, not for each batch.
      if (trouble !== undefined && !isTroubled) options.onTrouble("Traces cannot be exported and are dropped", trouble);
      isTroubled = trouble !== undefined;
    }
  }

  /** The error of the last attempt, or undefined. */
  async function sendBatch(batch: readonly FinishedSpan[]): Promise<unknown> {
    const scope = { name: "gantry" };
    const body = JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope, spans: batch.map(toOtlp) }] }] });
    for (let attempt = 1; ; attempt++) {
      const limitMs = ending.signal.aborted ? lastCallMs : callMs;
      const [trouble, isRetryable] = await postOtlp(net, { url, headers, body, limitMs });
      if (trouble === undefined || !isRetryable || attempt === tries || ending.signal.aborted) return trouble;
      await sleep(pauseMs * 2 ** (attempt - 1));
    }
  }

  return {
    add(span) {
      const chars = charsOf(span);
      if (waiting.length >= mostWaiting || waitingChars + chars > mostWaitingChars) return onFate("dropped", 1);
      waiting.push({ span, chars });
      waitingChars += chars;
      if (waiting.length === perCall || waitingChars >= charsPerCall) void send();
    },
    async close() {
      clearInterval(timer);
      ending.abort();
      const last = (sending ?? Promise.resolve()).then(() => send());
      await Promise.race([last, sleep(lastCallMs)]);
    },
  };
}

function charsOf({ attributes }: FinishedSpan): number {
  let chars = 0;
  for (const name in attributes) {
    const value = attributes[name];
    if (typeof value === "string") chars += value.length;
  }
  return chars;
}

function toOtlp({ context, name, kind, from, until, attributes, failure }: FinishedSpan): object {
  return {
    traceId: context.traceId,
    spanId: context.spanId,
    ...(context.parentSpanId !== undefined && { parentSpanId: context.parentSpanId }),
    ...(context.state !== undefined && { traceState: context.state }),
    name,
    kind: kinds[kind],
    startTimeUnixNano: nanoseconds(from),
    endTimeUnixNano: nanoseconds(Math.max(from, until)),
    attributes: toAttributes(failure === undefined ? attributes : { ...attributes, "error.type": failure }),
    ...(failure !== undefined && { status: { code: 2 } }),
  };
}
