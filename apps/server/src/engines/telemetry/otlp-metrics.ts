import type { Net } from "../net/net.ts";
import type { Measures } from "./measures.ts";
import { nanoseconds, postOtlp, toAttributes } from "./otlp.ts";
import type { Attributes } from "./telemetry.ts";

export interface OtlpMetricsOptions {
  net: Net;
  endpoint: string;
  headers?: Readonly<Record<string, string>>;
  resource: Attributes;
  metrics: Measures["conventional"];
  onTrouble(text: string, error: unknown): void;
  everyMs?: number;
}

const callMs = 10_000;
const lastCallMs = 3_000;
/** OTLP's name for totals since the start of the process. */
const cumulative = 2;

/** Sends metrics to an OpenTelemetry collector each minute. Totals are cumulative, so a lost call loses nothing. */
export function createOtlpMetrics(options: OtlpMetricsOptions): { close(): Promise<void> } {
  const { net, headers, metrics, onTrouble, everyMs = 60_000 } = options;
  const url = `${options.endpoint.replace(/\/+$/, "")}/v1/metrics`;
  const resource = { attributes: toAttributes(options.resource) };
  const startedAt = Date.now();
  let isTroubled = false;

  function bodyNow(): string | undefined {
    const now = Date.now();
    const times = { startTimeUnixNano: nanoseconds(startedAt), timeUnixNano: nanoseconds(now) };
    const filled = metrics.flatMap(({ name, unit, histogram }) => {
      const dataPoints = histogram.states().map(({ labels, bounds, counts, sum }) => ({
        ...times,
        attributes: toAttributes(
          Object.fromEntries(labels.map(([label, value]) => [conventionalName(label), value || undefined])),
        ),
        count: String(counts.reduce((total, count) => total + count, 0)),
        sum,
        bucketCounts: counts.map(String),
        explicitBounds: bounds,
      }));
      const described = { name, unit, description: histogram.help };
      return dataPoints.length === 0
        ? []
        : [{ ...described, histogram: { aggregationTemporality: cumulative, dataPoints } }];
    });
    if (filled.length === 0) return undefined;
    const scopeMetrics = [{ scope: { name: "gantry" }, metrics: filled }];
    return JSON.stringify({ resourceMetrics: [{ resource, scopeMetrics }] });
  }

  let sending: Promise<void> = Promise.resolve();
  const send = (limitMs: number) => {
    sending = sending.then(async () => {
      const body = bodyNow();
      if (body === undefined) return;
      const [trouble] = await postOtlp(net, { url, headers, body, limitMs });
      // Reported once per outage.
      if (trouble !== undefined && !isTroubled) onTrouble("Metrics cannot be exported", trouble);
      isTroubled = trouble !== undefined;
    });
    return sending;
  };
  const timer = setInterval(() => void send(callMs), everyMs);
  timer.unref();

  return {
    async close() {
      clearInterval(timer);
      await send(lastCallMs);
    },
  };
}

/** `gen_ai_token_type` → `gen_ai.token.type`. */
function conventionalName(label: string): string {
  return label.replaceAll("_", ".").replace(/^gen\.ai\./, "gen_ai.");
}
