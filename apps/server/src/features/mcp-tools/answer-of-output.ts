import { buffer } from "node:stream/consumers";
import { dollarsOfMicros } from "../../kernel/money.ts";
import type { Outcome } from "../predictions/index.ts";
import type { McpToolsContext } from "./context.ts";
import type { AnswerPart, ToolAnswer, ToolCall } from "./offered-tool.ts";

/** An image up to this stands in the answer itself; together they may have four of it. */
const inlineBytes = 1_048_576;
const inlineBytesTogether = 4 * inlineBytes;

/** The output as JSON, and behind it each file: a small image as it is, everything else as a link. */
export async function answerOfOutput(
  context: Pick<McpToolsContext, "linksOf" | "openOutput">,
  { caller, baseUrl }: Pick<ToolCall, "caller" | "baseUrl">,
  predictionId: string,
  outcome: Extract<Outcome, { kind: "done" }>,
): Promise<ToolAnswer> {
  const { output } = outcome;
  const links = await context.linksOf(predictionId, output, baseUrl);
  const content: AnswerPart[] = [{ type: "text", text: JSON.stringify(output) }];
  let room = inlineBytesTogether;
  for (const [field, link] of Object.entries(links)) {
    const file = await context.openOutput(caller.userId, String(output[field]));
    if (file?.contentType.startsWith("image/") && file.size <= Math.min(inlineBytes, room)) {
      room -= file.size;
      const data = (await buffer(await file.open())).toString("base64");
      content.push({ type: "image", data, mimeType: file.contentType });
    } else {
      content.push({
        type: "resource_link",
        uri: addressOf(link),
        name: file?.filename ?? field,
        ...(file && { mimeType: file.contentType, size: file.size }),
      });
    }
  }
  return { content, structured: { ...output }, isError: false, meta: figuresOf(predictionId, outcome) };
}

/** A link is the Presigned URL record of the specification. */
function addressOf(link: unknown): string {
  if (typeof link === "object" && link !== null && "url" in link) return String(link.url);
  throw new Error("a download link has no address");
}

/** What a prediction came to beside its output, for programs. */
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
        ...(usage.estimated && { estimated: true }),
      },
    }),
  };
}
