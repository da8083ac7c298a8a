import {
  type Cell,
  createCounter,
  createHistogram,
  type Described,
  type Histogram,
  type HistogramCell,
} from "./instruments.ts";
import type { Activity, RequestEnd, Telemetry } from "./telemetry.ts";

export type Measures = Pick<
  Telemetry,
  | "batchWritten"
  | "admissionRefused"
  | "modelCalled"
  | "backendCalled"
  | "failedOver"
  | "backendAwaited"
  | "predictionEnded"
  | "runEnded"
  | "webhookAttempted"
  | "fileInspected"
  | "slotAwaited"
> & {
  requestEnded(activity: Activity, end: RequestEnd, milliseconds: number): void;
  spansEnded(fate: "exported" | "dropped", spans: number): void;
  text(): string;
  readonly described: readonly Described[];
  /** By their names in OpenTelemetry's conventions. */
  readonly conventional: readonly { name: string; unit: string; histogram: Histogram }[];
};

// Seconds.
const quick = [0.0005, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const long = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
/** Bounds that OpenTelemetry's conventions for generative AI ask for. */
const conventionalSeconds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const conventionalTokens = Array.from({ length: 14 }, (_, n) => 4 ** n);
const sizes = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

const knownMethods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

interface RouteCells {
  seconds: HistogramCell;
  labels: string;
  /** By the first digit of the status. 0: the client disconnected. */
  byClass: (Cell | undefined)[];
}

/** By the first part of the path. */
const surfaces: readonly (readonly [string, string])[] = [
  ["/api/v1", "model"],
  ["/api/v2", "account"],
  ["/v1", "agents"],
  ["/console", "console"],
  ["/s3", "blobs"],
  ["/mcp", "mcp"],
];

export function surfaceOf(route: string | undefined): string {
  if (route === undefined) return "none";
  return surfaces.find(([prefix]) => route === prefix || route.startsWith(`${prefix}/`))?.[1] ?? "other";
}

/** Metrics that are counted as events happen. Metrics that are read at a scrape are in gauges.ts. */
export function createMeasures(): Measures {
  const requests = createCounter(
    "gantry_http_requests_total",
    "Requests by surface, route and class of status. `left`: the client disconnected before the answer was complete.",
    ["surface", "method", "route", "status"],
  );
  const requestSeconds = createHistogram(
    "gantry_http_request_seconds",
    "Time from the start of a request to the end of its answer, including uploads and streams.",
    long,
    ["surface"],
  );
  const addedSeconds = createHistogram(
    "gantry_added_latency_seconds",
    "Time of answered sync and stream predictions without the model's backend and the wait for a slot.",
    quick,
    ["way"],
  );
  const batchItems = createHistogram("gantry_batch_items", "Predictions in one commit.", sizes, ["step"]);
  const batchSeconds = createHistogram("gantry_batch_seconds", "Time of one commit.", quick, ["step"]);
  const refusals = createCounter("gantry_admission_refusals_total", "Predictions refused at admission.", ["type"]);
  const slotSeconds = createHistogram(
    "gantry_slot_wait_seconds",
    "Time that accepted predictions waited for a slot.",
    long,
    ["way"],
  );
  const modelSeconds = createHistogram("gantry_model_call_seconds", "Time of calls to the backend of a model.", long, [
    "backend",
  ]);
  const modelFailures = createCounter("gantry_model_call_failures_total", "Failed calls to the backend of a model.", [
    "backend",
    "type",
  ]);
  const operationSeconds = createHistogram(
    "gen_ai_client_operation_duration_seconds",
    "Time of calls to models, by the names of OpenTelemetry's conventions. `error_type` is empty for answered calls.",
    conventionalSeconds,
    ["gen_ai_operation_name", "gen_ai_provider_name", "gen_ai_request_model", "error_type"],
  );
  const tokenUsage = createHistogram(
    "gen_ai_client_token_usage",
    "Tokens of calls to models, by the names of OpenTelemetry's conventions. `gen_ai_token_type` is input or output.",
    conventionalTokens,
    ["gen_ai_operation_name", "gen_ai_provider_name", "gen_ai_request_model", "gen_ai_token_type"],
  );
  const ended = createCounter("gantry_predictions_ended_total", "Ended predictions, failed ones by type of error.", [
    "outcome",
    "type",
  ]);
  const tokens = createCounter(
    "gantry_tokens_total",
    "Tokens of ended predictions. `cached` and `cache_write` are part of `input`.",
    ["direction"],
  );
  const charged = createCounter("gantry_charged_micros_total", "Charges for predictions, in millionths of a dollar.");
  const runsEnded = createCounter("gantry_runs_ended_total", "Ended agent runs, failed ones by type of error.", [
    "outcome",
    "type",
  ]);
  const attempts = createCounter("gantry_webhook_attempts_total", "Attempts to deliver a webhook.", ["outcome"]);
  const attemptSeconds = createHistogram(
    "gantry_webhook_attempt_seconds",
    "Time of an attempt to deliver a webhook.",
    long,
  );
  const filesInspected = createCounter(
    "gantry_input_files_inspected_total",
    "Input files that had to be probed or decoded, because their first bytes were not enough to check them.",
    ["work"],
  );
  const backendCalls = createCounter(
    "gantry_backend_calls_total",
    "Tries at the backends of models that list them, by outcome: answered, a status, or why no answer arrived.",
    ["model", "backend", "outcome"],
  );
  const failovers = createCounter(
    "gantry_backend_failovers_total",
    "Calls for which another backend was tried after this one failed.",
    ["model", "backend", "reason"],
  );
  const backendWaitSeconds = createHistogram(
    "gantry_backend_wait_seconds",
    "Time that a call waited because all backends of its model were full.",
    long,
  );
  const spans = createCounter("gantry_spans_total", "Finished spans by their fate.", ["fate"]);
  const all = [
    ...[requests, requestSeconds, addedSeconds, batchItems, batchSeconds, refusals, slotSeconds, modelSeconds],
    ...[modelFailures, ended, tokens, charged, runsEnded, attempts, attemptSeconds, filesInspected, spans],
    ...[backendCalls, failovers, backendWaitSeconds, operationSeconds, tokenUsage],
  ];

  // Caches the cells of each route and method, so that a request builds no labels.
  const byRoute = new Map<string | undefined, Map<string, RouteCells>>();

  function cellsOf(route: string | undefined, method: string): RouteCells {
    return byRoute.get(route)?.get(method) ?? addRoute(route, knownMethods.has(method) ? method : "other");
  }

  function addRoute(route: string | undefined, method: string): RouteCells {
    const methods = byRoute.get(route) ?? new Map<string, RouteCells>();
    byRoute.set(route, methods);
    const surface = surfaceOf(route);
    const known = methods.get(method) ?? {
      seconds: requestSeconds.at(surface),
      labels: `${surface}\n${method}\n${route ?? "none"}\n`,
      byClass: [],
    };
    methods.set(method, known);
    return known;
  }

  function countOf(cells: RouteCells, status: number | undefined): Cell {
    const statusClass = status === undefined ? 0 : Math.trunc(status / 100);
    const known = cells.byClass[statusClass];
    if (known) return known;
    const cell = requests.at(cells.labels + (status === undefined ? "left" : `${statusClass}xx`));
    cells.byClass[statusClass] = cell;
    return cell;
  }

  return {
    requestEnded({ figures }, { method, route, status }, milliseconds) {
      const cells = cellsOf(route, method);
      countOf(cells, status).value++;
      cells.seconds.observe(milliseconds / 1000);
      if (figures.way === undefined || figures.modelMs === 0 || status === undefined || status >= 500) return;
      const added = Math.max(0, milliseconds - figures.modelMs - figures.waitedMs);
      addedSeconds.at(figures.way).observe(added / 1000);
    },
    batchWritten(step, items, milliseconds) {
      batchItems.at(step).observe(items);
      batchSeconds.at(step).observe(milliseconds / 1000);
    },
    admissionRefused(type) {
      refusals.at(type).value++;
    },
    slotAwaited(way, milliseconds) {
      slotSeconds.at(way).observe(milliseconds / 1000);
    },
    modelCalled(backend, milliseconds, failure, figures) {
      modelSeconds.at(backend).observe(milliseconds / 1000);
      // A cancellation is not a failure of the backend.
      if (failure !== undefined && failure !== "generation_cancelled")
        modelFailures.at(`${backend}\n${failure}`).value++;
      if (!figures) return;
      const labels = `${figures.operation}\n${figures.provider}\n${figures.model}`;
      operationSeconds.at(`${labels}\n${failure ?? ""}`).observe(milliseconds / 1000);
      if (figures.inputTokens !== undefined) tokenUsage.at(`${labels}\ninput`).observe(figures.inputTokens);
      if (figures.outputTokens !== undefined) tokenUsage.at(`${labels}\noutput`).observe(figures.outputTokens);
    },
    backendCalled(model, backend, failure) {
      backendCalls.at(`${model}\n${backend}\n${failure ?? "answered"}`).value++;
    },
    failedOver(model, backend, reason) {
      failovers.at(`${model}\n${backend}\n${reason}`).value++;
    },
    backendAwaited(milliseconds) {
      backendWaitSeconds.at("").observe(milliseconds / 1000);
    },
    predictionEnded({ failure, inputTokens, outputTokens, cachedTokens, cacheWriteTokens, chargedMicros }) {
      ended.at(outcomeOf(failure)).value++;
      if (inputTokens > 0) tokens.at("input").value += inputTokens;
      if (outputTokens > 0) tokens.at("output").value += outputTokens;
      if (cachedTokens > 0) tokens.at("cached").value += cachedTokens;
      if (cacheWriteTokens > 0) tokens.at("cache_write").value += cacheWriteTokens;
      charged.at("").value += chargedMicros;
    },
    runEnded(failure) {
      runsEnded.at(outcomeOf(failure)).value++;
    },
    webhookAttempted(outcome, milliseconds) {
      attempts.at(outcome).value++;
      attemptSeconds.at("").observe(milliseconds / 1000);
    },
    fileInspected(work) {
      filesInspected.at(work).value++;
    },
    spansEnded(fate, count) {
      spans.at(fate).value += count;
    },
    text: () => all.map((metric) => metric.text()).join(""),
    described: all,
    conventional: [
      { name: "gen_ai.client.operation.duration", unit: "s", histogram: operationSeconds },
      { name: "gen_ai.client.token.usage", unit: "{token}", histogram: tokenUsage },
    ],
  };
}

function outcomeOf(failure: string | undefined): string {
  if (failure === undefined) return "done\n";
  return failure === "generation_cancelled" || failure === "cancelled" ? "cancelled\n" : `failed\n${failure}`;
}
