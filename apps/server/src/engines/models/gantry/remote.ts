import { type ErrorType, errorTable } from "@gantry/wire";
import { Fault, type Issue } from "../../../kernel/errors.ts";
import { isWithinDepth } from "../../../kernel/storable-issues.ts";
import type { NetResponse } from "../../net/net.ts";
import { cacheUse, type ModelCall, type ModelDriver, type ModelResult, type TokenUsage } from "../driver.ts";
import { eventsOf, isEventStream, type MediaBackend, objectOf, postUpstream, readAnswer } from "../media/call.ts";
import { type Cancelling, cancelOnAbort } from "../media/cancel-upstream.ts";
import { fieldText, inputParts } from "../media/input-parts.ts";
import { fillOutput, isJsonObject, streamedFieldOf, typesOf } from "../media/output-fields.ts";
import { multipartBody, type Part, plainFilename } from "../media/request-body.ts";
import { StreamedText } from "../media/streamed-text.ts";
import { broken, joinUrl, toFault, UpstreamFailure } from "../upstream.ts";

export interface GantryRemoteBackend extends MediaBackend {
  /** `owner/name` on the other server. Not needed if `url` is the address of the model. */
  model?: string | undefined;
}

/** A model on another Gantry server. */
export function createGantryRemote(backend: GantryRemoteBackend): ModelDriver {
  const base = modelAddress(backend);
  const headers: Record<string, string> = backend.key ? { "x-api-key": backend.key } : {};

  return {
    async run(call) {
      const body = multipartBody(partsOf(backend, call));
      const post = (route: string, accept: string) =>
        postUpstream(
          backend,
          {
            url: joinUrl(base, route),
            headers: { ...headers, accept },
            signal: call.signal,
            onBegun: call.onBegun,
            explain: (status, text) => explained(backend, status, text),
          },
          body,
        );
      let remoteId: string | undefined;
      const cancelling = cancelOnAbort(backend, call.signal, () =>
        remoteId === undefined
          ? undefined
          : {
              url: joinUrl(base, "predict/cancel/"),
              headers: { ...headers, "content-type": "application/json" },
              body: JSON.stringify({ prediction_id: remoteId }),
            },
      );
      const stream = async () => {
        const answer = await post("predict/stream/", "text/event-stream").catch(async (error: unknown) => {
          throw await new StreamedText(call, "").failure(error, cancelling);
        });
        return streamed(backend, call, answer, cancelling, (id) => {
          remoteId = id;
        });
      };
      try {
        if (streamedFieldOf(backend.output) !== undefined) return await stream();
        const answer = await whole(backend, call, await post("predict", "application/json"));
        return answer === "streaming only" ? await stream() : answer;
      } finally {
        cancelling.stop();
      }
    },
  };
}

/** `url` is the server's base URL or the address of the model. */
function modelAddress({ url, model }: GantryRemoteBackend): string {
  const bare = url.replace(/\/+$/, "");
  if (/\/api\/v1\/[^/]+\/[^/]+$/.test(bare) || model === undefined) return bare;
  return bare.endsWith("/api/v1") ? `${bare}/${model}` : `${bare}/api/v1/${model}`;
}

function partsOf(backend: MediaBackend, call: ModelCall): Part[] {
  const { files, values } = inputParts(backend, call);
  return [
    ...Object.entries(values).map(([name, value]) => ({ name, value: fieldText(value) })),
    ...files.map(([name, file]) => ({ name, file, filename: plainFilename(name, file) })),
  ];
}

async function whole(
  backend: MediaBackend,
  call: ModelCall,
  response: NetResponse,
): Promise<ModelResult | "streaming only"> {
  const answer = await readAnswer(backend, call, response, { bareBase64: false });
  try {
    const { value } = answer;
    // This refusal arrives in a 200 response.
    if (isJsonObject(value) && value.status_code === 421) return "streaming only";
    if (!isJsonObject(value) || !isJsonObject(value.output_data))
      throw broken(new Error("The upstream did not answer with an output"));
    const usage = usageOf(value.stream_details);
    return { output: await fillOutput(backend, call, withOwnName(backend, withLinks(value))), ...(usage && { usage }) };
  } finally {
    await answer.discard();
  }
}

/** If both models have exactly one output field, the names need not match. */
function withOwnName({ output }: GantryRemoteBackend, answer: Record<string, unknown>): Record<string, unknown> {
  const [own, ...more] = Object.keys(output.properties);
  const values = Object.values(answer);
  return own === undefined || more.length > 0 || values.length !== 1 ? answer : { [own]: values[0] };
}

/** Replaces the s3 address of a file, which is meaningless here, with its link. */
function withLinks(answer: Record<string, unknown>): Record<string, unknown> {
  const output = { ...(isJsonObject(answer.output_data) ? answer.output_data : {}) };
  const links = isJsonObject(answer.files) ? answer.files : {};
  for (const [key, link] of Object.entries(links)) {
    if (!isJsonObject(link) || typeof link.url !== "string") continue;
    const [, name = "", index] = /^(.*)\.(\d+)$/.exec(key) ?? [];
    const list = output[name];
    // A list of files has a link for each entry, such as `images.0`.
    if (Array.isArray(list) && Number(index) < list.length) output[name] = list.with(Number(index), link.url);
    else output[key] = link.url;
  }
  return output;
}

/**
 *   {prediction_id} ──► {output_data: {field: [fragments]}}* ──► {output_data: {}, stream_details?}
 *                               └── {detail, status}: failed
 */
async function streamed(
  backend: MediaBackend,
  call: ModelCall,
  answer: NetResponse,
  cancelling: Cancelling,
  onId: (id: string) => void,
): Promise<ModelResult> {
  if (!isEventStream(answer)) {
    await answer.body.dump();
    throw broken(new Error("The upstream did not answer with a stream"));
  }
  const streamedField = streamedFieldOf(backend.output);
  const arriving = new StreamedText(
    streamedField === undefined ? withoutFragments(call) : call,
    streamedField ?? "output",
  );
  let others: Record<string, unknown> = {};
  try {
    for await (const { data } of eventsOf(answer, { signal: call.signal, mask: backend.mask })) {
      const event = objectOf(data);
      if (!event) throw broken(new Error("The upstream sent an event that is not a JSON object"));
      if (typeof event.prediction_id === "string") onId(event.prediction_id);
      if ("detail" in event) throw failureWithin(backend, event, data);
      if (!isJsonObject(event.output_data)) continue;
      if (event.stream_details !== undefined || Object.keys(event.output_data).length === 0) {
        const hasNoText = streamedField === undefined || Object.hasOwn(others, streamedField);
        const text = arriving.text === "" && hasNoText ? {} : { [streamedField ?? "output"]: arriving.text };
        const output = await fillOutput(backend, call, withOwnName(backend, { ...others, ...text }));
        const isCounted = streamedField !== undefined || arriving.text !== "";
        const usage = usageOf(event.stream_details) ?? (isCounted ? await arriving.counted() : undefined);
        return { output, ...(usage && { usage }) };
      }
      const content = Object.entries(withLinks(event));
      for (const [name, value] of content) {
        const isList = typesOf(backend.output.properties[name]).includes("array");
        const isText = !isList && Array.isArray(value) && value.every((part) => typeof part === "string");
        if (isText) await arriving.add(value.join(""));
        else if ((content.length === 1 || name === streamedField) && isWholeText(backend, name, value)) {
          await arriving.add(value);
        } else others = { ...others, [name]: value };
      }
    }
    throw broken(new Error("The upstream ended its stream before its answer was complete"));
  } catch (error) {
    throw await arriving.failure(error, cancelling);
  }
}

/** The single output of a model that streams here but not on the other server. */
function isWholeText({ output }: MediaBackend, name: string, value: unknown): value is string {
  const streamed = streamedFieldOf(output);
  const isOther = name !== streamed && Object.hasOwn(output.properties, name);
  return typeof value === "string" && streamed !== undefined && !isOther;
}

function withoutFragments(call: ModelCall): ModelCall {
  return { ...call, onFragment() {} };
}

function failureWithin(backend: MediaBackend, event: Record<string, unknown>, data: string): unknown {
  const status = typeof event.status === "number" ? event.status : 500;
  return explained(backend, status, data) ?? toFault(new UpstreamFailure({ status, body: data, mask: backend.mask }));
}

/** Passes on errors about the request's fields or content. A refusal of our key is not the caller's error. */
function explained(backend: MediaBackend, status: number, body: string): Fault | undefined {
  const failure = new UpstreamFailure({ status, body, mask: backend.mask });
  // The other server has already waited for its whole time limit.
  if (status === 504) return toFault(failure) as Fault;
  const detail = status === 422 ? objectOf(body)?.detail : undefined;
  if (!Array.isArray(detail)) return undefined;
  const issues = detail.map((entry) => issueOf(backend, entry));
  const [first, ...rest] = issues.filter((issue) => issue !== undefined);
  return first && new Fault([first, ...rest], { cause: failure });
}

function issueOf(backend: MediaBackend, entry: unknown): Issue | undefined {
  if (!isJsonObject(entry) || typeof entry.type !== "string" || !Object.hasOwn(errorTable, entry.type))
    return undefined;
  const type = entry.type as ErrorType;
  const row = errorTable[type];
  if (row.status !== 422 || type === "idempotency_key_reused") return undefined;
  const [part, field]: unknown[] = Array.isArray(entry.loc) ? entry.loc : [];
  if (part !== "body") return undefined;
  if (field !== undefined && !(typeof field === "string" && Object.hasOwn(backend.input.properties, field))) {
    return undefined;
  }
  const known: readonly string[] = row.ctx;
  const given = isJsonObject(entry.ctx) ? entry.ctx : {};
  // Uses our own text, because the other server's may reveal its upstream.
  const ctx = Object.fromEntries(
    Object.entries(given).filter(([name, value]) => known.includes(name) && [value].flat().every(isPlain)),
  );
  const loc = field === undefined ? ["body"] : ["body", field];
  return { type, loc, msg: row.meaning, ...(known.length > 0 && isJsonObject(entry.ctx) && { ctx }) };
}

/** A number or the name of an option, never a sentence or an address. */
function isPlain(value: unknown): boolean {
  return typeof value === "number" || (typeof value === "string" && /^[\w.+*/-]{1,40}$/.test(value));
}

function usageOf(details: unknown): TokenUsage | undefined {
  if (!isJsonObject(details)) return undefined;
  const { input_tokens: inputTokens, output_tokens: outputTokens, estimated } = details;
  const { cached_tokens: cached, cache_write_tokens: written } = details;
  if (typeof inputTokens !== "number" || typeof outputTokens !== "number") return undefined;
  return {
    inputTokens,
    outputTokens,
    ...cacheUse(
      {
        cachedTokens: typeof cached === "number" ? cached : undefined,
        cacheWriteTokens: typeof written === "number" ? written : undefined,
      },
      inputTokens,
    ),
    ...(estimated === true && { estimated }),
    ...(isJsonObject(details.google_usage) &&
      isWithinDepth(details.google_usage) && { googleUsage: details.google_usage }),
  };
}
