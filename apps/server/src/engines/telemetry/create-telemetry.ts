import type { Log } from "../../kernel/log.ts";
import { sleep } from "../../kernel/sleep.ts";
import type { Net } from "../net/net.ts";
import { gaugesText, infoText } from "./gauges.ts";
import { createMeasures } from "./measures.ts";
import { createOtlpExporter } from "./otlp-exporter.ts";
import { createOtlpMetrics } from "./otlp-metrics.ts";
import { processText } from "./process-text.ts";
import type { Gauges, Telemetry } from "./telemetry.ts";
import { createTracer } from "./tracer.ts";

export interface TelemetryOptions {
  log: Log;
  /** Must be allowed to reach the collector. */
  net: Net;
  version: string;
  role: string;
  nodeId: string;
  /** Undefined: nothing is exported. */
  collector: CollectorOptions | undefined;
}

export interface CollectorOptions {
  endpoint: string;
  headers?: Readonly<Record<string, string>>;
  serviceName: string;
  /** Share of traces to record. */
  ratio: number;
  exportsMetrics: boolean;
  capturesContent: boolean;
}

export interface OpenTelemetry extends Telemetry {
  /** All metrics in the text format of Prometheus. */
  exposition(): Promise<string>;
  /** Called at every scrape. Gauges of a reader that fails or is late are left out. */
  addGauges(read: () => Gauges | Promise<Gauges>): void;
  close(): Promise<void>;
}

/** Shorter than the timeout of a scrape. */
const gaugesWithinMs = 3_000;

export function createTelemetry({ log, net, version, role, nodeId, collector }: TelemetryOptions): OpenTelemetry {
  const measures = createMeasures();
  const exports = collector && {
    net,
    endpoint: collector.endpoint,
    ...(collector.headers && { headers: collector.headers }),
    resource: {
      "service.name": collector.serviceName,
      "service.version": version,
      "service.instance.id": nodeId,
      "gantry.role": role,
    },
    onTrouble: (text: string, error: unknown) => log.warn({ err: error }, text),
  };
  const exporter = exports && createOtlpExporter({ ...exports, onFate: measures.spansEnded });
  const metrics =
    exports && collector.exportsMetrics ? createOtlpMetrics({ ...exports, metrics: measures.conventional }) : undefined;
  const tracer = createTracer(exporter, collector?.ratio ?? 0);
  const readers: (() => Gauges | Promise<Gauges>)[] = [];
  // Read once, because it is needed for every request.
  const logsRequests = log.isLevelEnabled("debug");
  const info = infoText(version, role);

  async function readGauges(): Promise<Gauges> {
    const late = sleep(gaugesWithinMs).then((): Gauges => ({}));
    const reading = readers.map((read) => Promise.race([late, (async () => read())().catch(() => ({}))]));
    return Object.assign({}, ...(await Promise.all(reading)));
  }

  return {
    capturesContent: collector?.capturesContent ?? false,
    ...measures,
    within: tracer.within,
    resumed: tracer.resumed,
    inSpan: tracer.inSpan,
    inTrace: tracer.inTrace,
    past: tracer.past,
    traceparent: tracer.traceparent,
    tracestate: tracer.tracestate,
    traceId: tracer.traceId,
    concerns(predictionId, way) {
      const figures = tracer.current()?.figures;
      if (!figures) return;
      figures.predictionId = predictionId;
      figures.way = way;
    },
    slotAwaited(way, milliseconds) {
      measures.slotAwaited(way, milliseconds);
      const figures = tracer.current()?.figures;
      if (figures) figures.waitedMs += milliseconds;
    },
    backendCalled: measures.backendCalled,
    failedOver: measures.failedOver,
    backendAwaited(milliseconds) {
      measures.backendAwaited(milliseconds);
      const figures = tracer.current()?.figures;
      if (figures) figures.waitedMs += milliseconds;
    },
    modelCalled(backend, milliseconds, failure, call) {
      measures.modelCalled(backend, milliseconds, failure, call);
      const figures = tracer.current()?.figures;
      if (figures) figures.modelMs += milliseconds;
    },
    requestStarted: (traceparent, tracestate) => ({
      ...tracer.begin(traceparent, tracestate),
      startedAt: performance.now(),
    }),
    requestEnded(activity, end) {
      const milliseconds = performance.now() - activity.startedAt;
      measures.requestEnded(activity, end, milliseconds);
      const { method, route, status, requestId } = end;
      const { predictionId } = activity.figures;
      if (logsRequests) {
        const ms = Math.round(milliseconds * 10) / 10;
        log.debug({ request_id: requestId, prediction_id: predictionId, method, route, status, ms }, "Request");
      }
      if (!activity.span?.sampled) return;
      tracer.end(activity, {
        name: `${method} ${route ?? "none"}`,
        kind: "server",
        from: tracer.now() - milliseconds,
        attributes: {
          "http.request.method": method,
          "http.route": route,
          "http.response.status_code": status,
          "gantry.request_id": requestId,
          "gantry.prediction_id": predictionId,
        },
        failure: status !== undefined && status >= 500 ? String(status) : undefined,
      });
    },
    addGauges: (read) => void readers.push(read),
    async exposition() {
      const [gauges, ofProcess] = await Promise.all([readGauges(), processText()]);
      return `${info}${measures.text()}${gaugesText(gauges)}${ofProcess}`;
    },
    async close() {
      await Promise.all([exporter?.close(), metrics?.close()]);
    },
  };
}
