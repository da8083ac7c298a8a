import { Fault, type Issue } from "../../../kernel/errors.ts";
import type { NetResponse } from "../../net/net.ts";
import type { ModelCall, ModelDriver, ModelResult } from "../driver.ts";
import {
  eventsOf,
  isEventStream,
  type MediaBackend,
  nothingToDiscard,
  objectOf,
  postUpstreamOnce,
  readAnswer,
} from "../media/call.ts";
import { type Cancelling, cancelOnAbort } from "../media/cancel-upstream.ts";
import { fillOutput, isJsonObject, makesFiles, noMedia, streamedFieldOf } from "../media/output-fields.ts";
import { jsonBody } from "../media/request-body.ts";
import { RunClock } from "../media/run-clock.ts";
import { StreamedText } from "../media/streamed-text.ts";
import { broken, joinUrl, UpstreamError, UpstreamFailure } from "../upstream.ts";
import { authorization, beginRun } from "./begin-run.ts";

/** Characters kept from the end of a failed model's log, which has the reason. */
const keptLog = 2000;
/** Masked before it is cut, so that no part of a secret is left at the edge. */
const maskedLog = 32_768;

/**
 * Any Cog container. For a streamed output it is asked for events. Servers without events answer 406, or JSON if they are
 * older.
 */
export function createCog(backend: MediaBackend): ModelDriver {
  const field = streamedFieldOf(backend.output);
  const url = joinUrl(backend.url, "predictions");
  return {
    async run(call) {
      let sent = false;
      const clock = new RunClock();
      const cancelling = cancelOnAbort(backend, call.signal, () =>
        sent
          ? { url: `${url}/${encodeURIComponent(call.predictionId)}/cancel`, headers: authorization(backend) }
          : undefined,
      );
      try {
        const answer = await beginRun(backend, call, clock, () => {
          sent = true;
          return predict(backend, url, call, field !== undefined).catch((error: unknown) => {
            sent = call.signal.aborted;
            throw error;
          });
        });
        if (field !== undefined && isEventStream(answer)) {
          return await streamed(backend, call, field, answer, cancelling, clock);
        }
        return await whole(backend, call, field, answer, clock);
      } catch (error) {
        if (!call.signal.aborted) throw error;
        // The last request of a waiting call may not have begun either. A container has no such prediction then.
        if (clock.hasWaited && (await cancelling.answered()) === 404) clock.wait();
        throw clock.interrupted(error, call.signal.reason);
      } finally {
        cancelling.stop();
      }
    },
  };
}

function predict(backend: MediaBackend, url: string, call: ModelCall, stream: boolean): Promise<NetResponse> {
  // Cog refuses null even for nullable inputs.
  const given = Object.entries(call.input).filter(([, value]) => value !== undefined && value !== null);
  const body = jsonBody({ id: call.predictionId, input: Object.fromEntries(given) });
  const ask = (accept: string) =>
    postUpstreamOnce(
      backend,
      {
        url,
        headers: { ...authorization(backend), accept },
        signal: call.signal,
        onBegun: call.onBegun,
        explain: (status, text) => (status === 422 ? wrongInput(backend, text) : undefined),
      },
      body,
    );
  if (!stream) return ask("application/json");
  return ask("text/event-stream").catch((error: unknown) => {
    if (!(error instanceof UpstreamFailure) || error.status !== 406) throw error;
    return ask("application/json");
  });
}

/** Of pydantic 1 and 2. */
const missingTypes: ReadonlySet<unknown> = new Set(["value_error.missing", "missing"]);

/** Reports refused input fields of the manifest. Uses our own text, because the container's may contain anything. */
function wrongInput(backend: MediaBackend, body: string): Fault | undefined {
  const detail = objectOf(body)?.detail;
  if (!Array.isArray(detail)) return undefined;
  const issues: Issue[] = [];
  for (const entry of detail) {
    const loc: unknown[] = isJsonObject(entry) && Array.isArray(entry.loc) ? entry.loc : [];
    const field = loc[0] === "body" && loc[1] === "input" ? loc[2] : undefined;
    if (typeof field !== "string" || !Object.hasOwn(backend.input.properties, field)) continue;
    if (isJsonObject(entry) && missingTypes.has(entry.type)) {
      issues.push({ type: "missing", loc: ["body", field], msg: "Field required" });
    } else issues.push({ type: "value_error", loc: ["body", field], msg: "The model does not accept this value." });
  }
  const [first, ...rest] = issues;
  return (
    first && new Fault([first, ...rest], { cause: new UpstreamFailure({ status: 422, body, mask: backend.mask }) })
  );
}

async function whole(
  backend: MediaBackend,
  call: ModelCall,
  field: string | undefined,
  response: NetResponse,
  clock: RunClock,
): Promise<ModelResult> {
  const answer = await readAnswer(backend, call, response, { bareBase64: false });
  try {
    const prediction = succeeded(backend, answer.value);
    const waitedMs = clock.waitedMs(reportedSeconds(prediction));
    const output = prediction.output;
    const nothing = output === undefined || output === null || (Array.isArray(output) && output.length === 0);
    if (nothing && makesFiles(backend.output)) throw noMedia();
    if (field === undefined) {
      return { output: output === undefined ? {} : await fillOutput(backend, call, output), waitedMs };
    }
    const arriving = new StreamedText(call, field);
    await arriving.add(textOf(output));
    return { output: { [field]: arriving.text }, usage: await arriving.counted(), waitedMs };
  } finally {
    if (answer.discard !== nothingToDiscard) await answer.discard();
  }
}

/** Cog also answers 200 for a failed prediction. */
function succeeded(backend: MediaBackend, value: unknown): Record<string, unknown> {
  if (!isJsonObject(value)) throw broken(new Error("The upstream did not answer with a prediction"));
  const { status } = value;
  if (status === "succeeded" || (status === undefined && "output" in value)) return value;
  const shown = (text: unknown) =>
    typeof text === "string" ? backend.mask(text.slice(-maskedLog)).slice(-keptLog) : "";
  const details = `${shown(status)}: ${shown(value.error)}\n${shown(value.logs)}`;
  throw broken(new UpstreamError("The prediction did not succeed", details));
}

/** Both times are of the container's clock. */
function reportedSeconds({ metrics, started_at, completed_at }: Record<string, unknown>): unknown {
  if (isJsonObject(metrics) && metrics.predict_time !== undefined) return metrics.predict_time;
  return (Date.parse(String(completed_at)) - Date.parse(String(started_at))) / 1000;
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(textOf).join("");
  return JSON.stringify(value);
}

/**
 *   start ──► output* (log and metric between) ──► completed
 *                └── error: chunks were lost ──► failed
 */
async function streamed(
  backend: MediaBackend,
  call: ModelCall,
  field: string,
  answer: NetResponse,
  cancelling: Cancelling,
  clock: RunClock,
): Promise<ModelResult> {
  const arriving = new StreamedText(call, field);
  try {
    for await (const { event, data } of eventsOf(answer, { signal: call.signal, mask: backend.mask })) {
      if (event === "output") await arriving.add(textOf(objectOf(data)?.chunk));
      else if (event === "error") {
        throw broken(
          new UpstreamError("The stream is incomplete", backend.mask(data.slice(0, maskedLog)).slice(0, keptLog)),
        );
      } else if (event === "completed") {
        const prediction = succeeded(backend, objectOf(data));
        const waitedMs = clock.waitedMs(reportedSeconds(prediction));
        // A model that does not stream sends its output with the last event.
        if (arriving.text === "") await arriving.add(textOf(prediction.output));
        return { output: { [field]: arriving.text }, usage: await arriving.counted(), waitedMs };
      }
    }
    throw broken(new Error("The upstream ended its stream before its answer was complete"));
  } catch (error) {
    throw await arriving.failure(error, cancelling);
  }
}
