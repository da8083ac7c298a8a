import type { ObjectSchema } from "@gantry/wire";
import type { FileOutput, ModelCall, ModelDriver, ModelResult, OutputValue, TokenUsage } from "../driver.ts";
import { type MediaBackend, postUpstream, readAnswer } from "../media/call.ts";
import { fieldText, inputParts } from "../media/input-parts.ts";
import { dropFiles, fileFieldsOf, isJsonObject, mediaOf, noMedia, typesOf } from "../media/output-fields.ts";
import { fileFrom, fileFromBase64 } from "../media/output-files.ts";
import type { RequestBody } from "../media/request-body.ts";
import { jsonBody, multipartBody, type Part, plainFilename } from "../media/request-body.ts";
import { Spool } from "../media/spool.ts";
import { broken, joinUrl, refusedContent, UpstreamFailure } from "../upstream.ts";

export interface OpenAiImagesBackend extends MediaBackend {
  model: string;
  /** Values of `size` that the upstream spells differently, e.g. `{"2k": "2048x2048"}`. */
  sizes?: Readonly<Record<string, string>>;
}

const refusals = new Set(["moderation_blocked", "content_policy_violation"]);

/** Any server with OpenAI's images API. Calls the edits route if the input has images. */
export function createOpenAiImages(backend: OpenAiImagesBackend): ModelDriver {
  return {
    async run(call) {
      const { path, body } = requestOf(backend, call);
      const response = await postUpstream(
        backend,
        {
          url: joinUrl(backend.url, path),
          headers: { accept: "application/json", ...(backend.key && { authorization: `Bearer ${backend.key}` }) },
          signal: call.signal,
          onBegun: call.onBegun,
          explain: (status, text) => refusal(backend, status, text),
        },
        body,
      );
      const answer = await readAnswer(backend, call, response, { bareBase64: true });
      try {
        return await resultOf(backend, call, answer.value);
      } finally {
        await answer.discard();
      }
    },
  };
}

function requestOf(backend: OpenAiImagesBackend, call: ModelCall): { path: string; body: RequestBody } {
  const { files, values } = inputParts(backend, call);
  const { size } = values;
  if (typeof size === "string") values.size = backend.sizes?.[size] ?? size;
  values.model = backend.model;
  if (files.length === 0) return { path: "images/generations", body: jsonBody(values) };
  const parts: Part[] = Object.entries(values).map(([name, value]) => ({ name, value: fieldText(value) }));
  const images = files.filter(([name]) => name !== "mask").length;
  for (const [name, file] of files) {
    const part = name === "mask" ? "mask" : images > 1 ? "image[]" : "image";
    parts.push({ name: part, file, filename: plainFilename(name, file) });
  }
  return { path: "images/edits", body: multipartBody(parts) };
}

function refusal(backend: MediaBackend, status: number, body: string) {
  const code = /"code"\s*:\s*"([a-z_]{1,64})"/.exec(body)?.[1];
  if (code === undefined || !refusals.has(code)) return undefined;
  return refusedContent(new UpstreamFailure({ status, body, mask: backend.mask }));
}

async function resultOf(backend: MediaBackend, call: ModelCall, answer: unknown): Promise<ModelResult> {
  if (!isJsonObject(answer)) throw broken(new Error("The upstream did not answer with a JSON object"));
  const { error } = answer;
  if ((isJsonObject(error) && Object.keys(error).length > 0) || (typeof error === "string" && error !== "")) {
    const body = JSON.stringify(error);
    throw refusal(backend, 200, body) ?? broken(new UpstreamFailure({ status: 200, body, mask: backend.mask }));
  }
  const data = Array.isArray(answer.data) ? answer.data.filter(isJsonObject) : [];
  const images = data.filter((entry) => isContent(entry.b64_json) || isContent(entry.url));
  const [first] = images;
  if (!first) throw noMedia();
  const usage = usageOf(answer.usage);
  return {
    output: await imageOutput(backend, call, images, { ...answer, ...first }),
    ...(usage && { usage }),
  };
}

function isContent(value: unknown): boolean {
  return value instanceof Spool || (typeof value === "string" && value !== "");
}

/** Images fill the file fields in order. Other values, such as `revised_prompt`, fill fields of the same name. */
export async function imageOutput(
  backend: MediaBackend,
  call: ModelCall,
  images: readonly Record<string, unknown>[],
  values: Record<string, unknown>,
): Promise<Record<string, OutputValue>> {
  const output: Record<string, OutputValue> = {};
  const files = imageFieldsOf(backend.output, values);
  try {
    for (const [index, name] of files.slice(0, images.length).entries()) {
      output[name] = await imageOf(backend, call, images[index] ?? {}, mediaOf(backend.output.properties[name]));
    }
  } catch (error) {
    dropFiles(output);
    throw error;
  }
  for (const name of Object.keys(backend.output.properties)) {
    const value = values[name];
    if (files.includes(name) || (typeof value !== "string" && typeof value !== "number")) continue;
    output[name] = value;
  }
  return output;
}

/** A single string output receives the image even if it is not a file field, unless the answer has a value for it. */
function imageFieldsOf(output: ObjectSchema, values: Record<string, unknown>): string[] {
  const files = fileFieldsOf(output);
  const [only, ...more] = Object.keys(output.properties);
  if (files.length > 0 || only === undefined || more.length > 0 || values[only] !== undefined) return files;
  return typesOf(output.properties[only]).includes("string") ? [only] : [];
}

function imageOf(
  backend: MediaBackend,
  call: ModelCall,
  entry: Record<string, unknown>,
  media: ReturnType<typeof mediaOf>,
): Promise<FileOutput> {
  const { b64_json: base64, url } = entry;
  if (base64 instanceof Spool || (typeof base64 === "string" && base64 !== "" && !base64.startsWith("data:"))) {
    return fileFromBase64(call, base64, media);
  }
  return fileFrom(backend, call, isContent(url) ? url : base64, media);
}

function usageOf(usage: unknown): TokenUsage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const { input_tokens: read, output_tokens: output = 0, total_tokens: total } = usage;
  if (typeof output !== "number") return undefined;
  const inputTokens =
    typeof read === "number" ? read : typeof total === "number" ? Math.max(0, total - output) : undefined;
  if (inputTokens === undefined) return undefined;
  const details = isJsonObject(usage.input_tokens_details) ? usage.input_tokens_details : {};
  const { cached_tokens: cached } = details;
  return {
    inputTokens,
    outputTokens: output,
    ...(typeof cached === "number" && { cachedTokens: Math.min(cached, inputTokens) }),
  };
}
