import { buffer } from "node:stream/consumers";
import { dollarsOfMicros } from "../../kernel/money.ts";
import { addressOfLink, type Outcome } from "../predictions/index.ts";
import type { AnswerPart, McpToolsContext, OutputFile, ToolAnswer, ToolCall } from "./context.ts";

/** Images up to this size are part of the answer. */
const inlineBytes = 1_048_576;
const inlineBytesInAll = 4 * inlineBytes;

/** An agent may name any number of addresses. */
const mostLinks = 20;
const addressPattern = /s3:\/\/[^\s"\\<>()]+/g;

/** The output as JSON, then each file as a link. Small images are included. */
export async function answerOfOutput(
  context: Pick<McpToolsContext, "linksOf" | "openOutput">,
  { caller, baseUrl }: Pick<ToolCall, "caller" | "baseUrl">,
  predictionId: string,
  outcome: Extract<Outcome, { kind: "done" }>,
): Promise<ToolAnswer> {
  const { output } = outcome;
  const links = await context.linksOf(predictionId, output, baseUrl);
  const content: AnswerPart[] = [{ type: "text", text: JSON.stringify(output) }];
  let quota = inlineBytesInAll;
  for (const [field, link] of Object.entries(links)) {
    const file = await context.openOutput(caller, addressOfLink(output, field));
    if (file?.contentType.startsWith("image/") && file.size <= Math.min(inlineBytes, quota)) {
      quota -= file.size;
      const data = (await buffer(await file.open())).toString("base64");
      content.push({ type: "image", data, mimeType: file.contentType });
    }
    content.push(linkTo(addressOf(link), file, field));
  }
  return { content, structured: { ...output }, isError: false, meta: figuresOf(predictionId, outcome) };
}

/** Links to files of the caller that an agent's output names: clients cannot read s3:// addresses. */
export async function linksWithin(
  { openOutput, linkOf }: Pick<McpToolsContext, "openOutput" | "linkOf">,
  { caller, baseUrl }: Pick<ToolCall, "caller" | "baseUrl">,
  output: Record<string, unknown>,
): Promise<AnswerPart[]> {
  const named = new Set(JSON.stringify(output).match(addressPattern)?.map(withoutPunctuation));
  const links = await Promise.all([...named].slice(0, mostLinks).map(linkIfOwn));
  return links.flat();

  async function linkIfOwn(s3Path: string): Promise<AnswerPart[]> {
    try {
      const file = await openOutput(caller, s3Path);
      return file ? [linkTo((await linkOf(s3Path, baseUrl)).url, file, file.filename)] : [];
    } catch {
      // The run was charged, so the caller gets the result even without a link.
      return [];
    }
  }
}

/** An address may be followed by punctuation or Markdown. */
const withoutPunctuation = (address: string) => address.replace(/[.,;:!?`*'’”»|\]}]+$/, "");

function linkTo(uri: string, file: OutputFile | undefined, field: string): AnswerPart {
  return {
    type: "resource_link",
    uri,
    name: file?.filename ?? field,
    ...(file && { mimeType: file.contentType, size: file.size }),
  };
}

function addressOf(link: unknown): string {
  if (typeof link === "object" && link !== null && "url" in link) return String(link.url);
  throw new Error("download link without url");
}

/** Charge, time and tokens of a prediction, for programs. */
export function figuresOf(predictionId: string, { price, inferenceMs, usage }: Outcome): Record<string, unknown> {
  return {
    "gantry/prediction_id": predictionId,
    "gantry/price": dollarsOfMicros(price),
    ...(inferenceMs !== undefined && { "gantry/inference_time": Math.round(inferenceMs) / 1000 }),
    ...(usage && {
      "gantry/usage": {
        input_tokens: usage.inputTokens,
        output_tokens: usage.outputTokens,
        ...(usage.cachedTokens !== undefined && { cached_tokens: usage.cachedTokens }),
        ...(usage.cacheWriteTokens !== undefined && { cache_write_tokens: usage.cacheWriteTokens }),
        ...(usage.estimated && { estimated: true }),
      },
    }),
  };
}
