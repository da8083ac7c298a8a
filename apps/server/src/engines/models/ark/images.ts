import { type Fault, fault } from "../../../kernel/errors.ts";
import type { ModelCall, ModelDriver, ModelResult, TokenUsage } from "../driver.ts";
import { type MediaBackend, postUpstream, readAnswer } from "../media/call.ts";
import { inputParts } from "../media/input-parts.ts";
import { fileFieldsOf, isJsonObject, noMedia } from "../media/output-fields.ts";
import { jsonBody } from "../media/request-body.ts";
import { imageOutput } from "../openai/images.ts";
import { broken, joinUrl, refusedContent, toFault, UpstreamFailure } from "../upstream.ts";

export interface ArkImagesBackend extends MediaBackend {
  model: string;
  /** `url` by default: the answer is short, and the image is fetched as a stream. */
  responseFormat?: "url" | "b64_json";
}

/** Seedream on BytePlus or Volcengine ModelArk. */
export function createArkImages(backend: ArkImagesBackend): ModelDriver {
  return {
    async run(call) {
      const response = await postUpstream(
        backend,
        {
          url: joinUrl(backend.url, "images/generations"),
          headers: { accept: "application/json", ...(backend.key && { authorization: `Bearer ${backend.key}` }) },
          signal: call.signal,
          onBegun: call.onBegun,
          explain: (status, text) =>
            explained(codeOf(text), new UpstreamFailure({ status, body: text, mask: backend.mask })),
        },
        jsonBody(requestOf(backend, call)),
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

function requestOf(backend: ArkImagesBackend, call: ModelCall): Record<string, unknown> {
  const { files, values } = inputParts(backend, call);
  // The vendor's checker cannot be switched off; ours runs before the call.
  const { enable_safety_checker: _ours, optimize_prompt_mode: mode, size, watermark, ...rest } = values;
  const images = files.map(([, file]) => file);
  return {
    sequential_image_generation: "disabled",
    ...rest,
    model: backend.model,
    ...(images.length > 0 && { image: images.length === 1 ? images[0] : images }),
    ...(size !== undefined && { size: typeof size === "string" && /^\d+k$/.test(size) ? size.toUpperCase() : size }),
    ...(mode !== undefined && { optimize_prompt_options: { mode } }),
    // The vendor's own default is true.
    watermark: watermark ?? false,
    response_format: backend.responseFormat ?? "url",
  };
}

async function resultOf(backend: MediaBackend, call: ModelCall, answer: unknown): Promise<ModelResult> {
  if (!isJsonObject(answer)) throw broken(new Error("The upstream did not answer with a JSON object"));
  const data = Array.isArray(answer.data) ? answer.data.filter(isJsonObject) : [];
  const images = data.filter((entry) => entry.url || entry.b64_json);
  const failed = data.find((entry) => isJsonObject(entry.error))?.error ?? answer.error ?? undefined;
  const [first] = images;
  const wanted = fileFieldsOf(backend.output).filter((name) => backend.output.required?.includes(name)).length;
  if (failed !== undefined && images.length < wanted) throw failureWithin(backend, failed);
  if (!first) throw failed === undefined ? noMedia() : failureWithin(backend, failed);
  const usage = usageOf(answer.usage);
  return { output: await imageOutput(backend, call, images, { ...answer, ...first }), ...(usage && { usage }) };
}

/** A failure in a 200 response becomes a fault with a fitting status. */
function failureWithin(backend: MediaBackend, error: unknown): unknown {
  const code = isJsonObject(error) && typeof error.code === "string" ? error.code : "";
  const status = /^(RateLimit|Quota)Exceeded/.test(code) ? 429 : 500;
  const failure = new UpstreamFailure({ status, body: JSON.stringify(error), mask: backend.mask });
  return explained(code, failure) ?? toFault(failure);
}

function codeOf(body: string): string {
  return /"code"\s*:\s*"([\w.]{1,128})"/.exec(body)?.[1] ?? "";
}

/** Codes may have a suffix, as in `InputTextSensitiveContentDetected.PolicyViolation`. */
function explained(code: string, failure: UpstreamFailure): Fault | undefined {
  if (/Sensitive|Risk|PolicyViolation/.test(code)) return refusedContent(failure);
  if (!code.startsWith("InvalidImageURL")) return undefined;
  return fault("file_download_error", "The service behind the model could not read an input image.", {
    cause: failure,
  });
}

function usageOf(usage: unknown): TokenUsage | undefined {
  if (!isJsonObject(usage) || typeof usage.output_tokens !== "number") return undefined;
  const total = typeof usage.total_tokens === "number" ? usage.total_tokens : usage.output_tokens;
  return { inputTokens: Math.max(0, total - usage.output_tokens), outputTokens: usage.output_tokens };
}
