import { choice, flag, type Setting, text, textLike, webAddress, wrong } from "./setting-kinds.ts";

const shares = "a number from 0 to 1";
const headerPairs = "name=value pairs separated by commas";

/** In the format of the OpenTelemetry environment variables. */
function readHeaders(given: string | undefined): Record<string, string> | undefined {
  if (given === undefined) return undefined;
  const pairs = given.split(",").map((pair) => {
    const at = pair.indexOf("=");
    const name = pair.slice(0, at).trim().toLowerCase();
    const value = decoded(pair.slice(at + 1).trim());
    if (at < 1 || !/^[a-z0-9_-]+$/.test(name) || value === undefined || !/^[\x20-\x7e]*$/.test(value)) {
      wrong(`must be ${headerPairs}`);
    }
    return [name, value];
  });
  return Object.fromEntries(pairs);
}

function decoded(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}

export const telemetrySettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: webAddress(
    "OpenTelemetry collector (OTLP over HTTP, JSON): the base URL before /v1/traces and /v1/metrics.",
  ),
  OTEL_EXPORTER_OTLP_HEADERS: {
    meaning: "Headers for the collector. Values are percent-encoded.",
    shown: "unset",
    takes: headerPairs,
    read: readHeaders,
  } satisfies Setting<Record<string, string> | undefined>,
  OTEL_SERVICE_NAME: text("Service name in traces.", "gantry"),
  OTEL_TRACES_SAMPLER_ARG: {
    meaning: "Share of traces to record. A caller's sampling decision takes precedence.",
    shown: "1",
    takes: shares,
    read: (given: string | undefined) => {
      if (given === undefined) return 1;
      const ratio = Number(given);
      if (!/^\d*\.?\d+$/.test(given) || ratio > 1) wrong(`must be ${shares}`);
      return ratio;
    },
  } satisfies Setting<number>,
  OTEL_METRICS_EXPORTER: choice(
    "otlp also sends durations and tokens of model calls to the collector, each minute. /metrics has them in any case.",
    ["none", "otlp"],
    "none",
  ),
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: flag(
    "Set to 1 to add prompts, answers, and arguments and results of tools to spans. " +
      "Calls whose inputs are not kept stay without content.",
  ),
  GANTRY_TRACE_URL: textLike(
    "Page of a trace in your tracing tool, with {trace_id} in it. The console links predictions and runs to it.",
    "an http or https URL that contains {trace_id}",
    (given) => given.includes("{trace_id}") && /^https?:$/.test(URL.parse(given)?.protocol ?? ""),
    undefined,
  ),
};
