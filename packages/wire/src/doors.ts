import { z } from "zod";

/**
 * Requests and answers of other services' protocols. Only fields that every client sends are named: the protocols grow,
 * and unknown fields are accepted.
 */

const model = z
  .string()
  .describe("`owner/model`, an alias, or `agents/<creator>/<slug>` for an agent that the caller may run.");
const stream = z.boolean().optional().describe("Answer with Server-Sent Events.");
const messages = z.array(z.looseObject({ role: z.string() })).min(1);

export const chatCompletionBody = z.looseObject({ model, messages, stream });
export const responseBody = z.looseObject({
  model,
  input: z.union([z.string(), z.array(z.looseObject({}))]).optional(),
  stream,
  store: z.boolean().optional().describe("Keep the response, so that it can be read and continued. Default: true."),
  background: z.boolean().optional().describe("Answer at once and work on the response in the queue."),
  previous_response_id: z.string().nullish().describe("Continue this stored response."),
});
export const embeddingBody = z.looseObject({
  model,
  input: z.union([z.string(), z.array(z.string())]),
  encoding_format: z.enum(["float", "base64"]).optional(),
  dimensions: z.int().optional(),
});
export const imageBody = z.looseObject({
  model,
  prompt: z.string(),
  n: z.int().min(1).max(4).optional(),
  size: z.string().optional().describe("`auto`, or width x height. The nearest size that the model has is used."),
  response_format: z.enum(["url", "b64_json"]).optional().describe("Default: `b64_json`."),
});
export const messageBody = z.looseObject({ model, messages, max_tokens: z.int(), stream });
export const countMessageTokensBody = z.looseObject({ model, messages });

export const chatCompletion = z.looseObject({
  id: z.string(),
  object: z.literal("chat.completion"),
  model: z.string(),
});
export const responseRecord = z.looseObject({ id: z.string(), object: z.literal("response"), status: z.string() });
export const responseItems = z.looseObject({ object: z.literal("list"), data: z.array(z.looseObject({})) });
export const deletedResponse = z.looseObject({ id: z.string(), object: z.string(), deleted: z.literal(true) });
export const embeddingList = z.looseObject({ object: z.literal("list"), model: z.string() });
export const imageList = z.looseObject({ created: z.int(), data: z.array(z.looseObject({})) });
export const messageRecord = z.looseObject({
  id: z.string(),
  type: z.literal("message"),
  role: z.literal("assistant"),
});
export const messageTokens = z.looseObject({ input_tokens: z.int() });
export const compatibleModel = z.looseObject({ id: z.string() });
export const compatibleModels = z.looseObject({ data: z.array(compatibleModel) });
