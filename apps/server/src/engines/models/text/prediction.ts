import { asksNothing, type ObjectSchema } from "@gantry/wire";
import { fault } from "../../../kernel/errors.ts";
import type { ChatMessage, ChatResult, ContentPart } from "../chat.ts";
import { type FileInput, filesIn, type InputValue, type ModelDriver } from "../driver.ts";
import { refusedContent } from "../upstream.ts";
import type { TextRequest } from "./request.ts";

/** Files are sent to text models inline, so they are held in memory. */
const mostInlineBytes = 32 * 1024 * 1024;

/** `fillingOutput` renames the field to that of the manifest. */
const ownName = "output";

/**
 * The prediction interface of all text backends. `prompt` becomes the user message, `system` the system message; images
 * go with the prompt. Every other input becomes a field of the upstream's body.
 */
export function runAsChat(answer: (request: TextRequest) => Promise<ChatResult>): ModelDriver["run"] {
  return async (call) => {
    const { prompt, system, max_tokens, temperature, seed, ...others } = call.input;
    const { files, values } = splitFiles(others);
    const images = await inlined(files);
    const text = asksNothing(prompt) ? "" : textOf(prompt);
    if (text === "" && images.length === 0) throw fault("missing", "Field required", { loc: ["body", "prompt"] });
    const content = images.length === 0 ? text : [...images, { type: "text" as const, text }];
    const messages: ChatMessage[] = [{ role: "user", content }];
    if (textOf(system) !== "") messages.unshift({ role: "system", content: textOf(system) });
    const result = await answer({
      id: call.predictionId,
      messages,
      extra: values,
      signal: call.signal,
      onBegun: call.onBegun,
      onText: (fragment) => call.onFragment(ownName, fragment),
      ...(typeof max_tokens === "number" && { maxTokens: max_tokens }),
      ...(typeof temperature === "number" && { temperature }),
      ...(typeof seed === "number" && { seed }),
    });
    if (result.stop === "refused") throw refusedContent(new Error("The upstream stopped its answer as refused"));
    return { output: { [ownName]: result.text }, usage: result.usage, stop: result.stop };
  };
}

/** Manifests stored by earlier versions may lack the input `prompt`, so that callers cannot send one. */
export function askingByPrompt(run: ModelDriver["run"], input: ObjectSchema): ModelDriver["run"] {
  if (Object.hasOwn(input.properties, "prompt")) return run;
  return async (call) => {
    if (Object.values(call.input).some((value) => filesIn(value).length > 0)) return run(call);
    throw fault("downstream_service_error", "The model's manifest has no input named prompt. Its owner must add one.");
  };
}

function textOf(value: InputValue | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function splitFiles(input: Readonly<Record<string, InputValue>>) {
  const files: [field: string, file: FileInput][] = [];
  const values: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(input)) {
    const given = filesIn(value);
    if (given.length > 0) files.push(...given.map((file) => [field, file] as [string, FileInput]));
    else if (value !== null) values[field] = value;
  }
  return { files, values };
}

async function inlined(files: readonly [field: string, file: FileInput][]): Promise<ContentPart[]> {
  let bytesLeft = mostInlineBytes;
  const images: ContentPart[] = [];
  for (const [field, file] of files) {
    bytesLeft -= file.size;
    if (bytesLeft < 0) {
      const msg = "The files are too large for a text model.";
      throw fault("file_too_large", msg, { loc: ["body", field], ctx: { max_size: mostInlineBytes } });
    }
    if (!file.contentType.startsWith("image/")) {
      const msg = "This model reads only text and images.";
      throw fault("invalid_file_format", msg, { loc: ["body", field], ctx: { supported_formats: ["image/*"] } });
    }
    const chunks: Buffer[] = [];
    for await (const chunk of await file.open()) chunks.push(chunk as Buffer);
    images.push({ type: "image", contentType: file.contentType, base64: Buffer.concat(chunks).toString("base64") });
  }
  return images;
}
