import OpenAI from "openai";
import type { GantryUnderTest } from "./gantry.ts";

/** What a client of an agent sees of a streamed answer. */
export interface SeenStream {
  text: string;
  reasoning: string;
  /** Each piece of text, with the time of its arrival. */
  pieces: { text: string; at: number }[];
  usage: OpenAI.CompletionUsage | undefined;
  runId: string;
  error: unknown;
}

type ChatBody = Partial<OpenAI.ChatCompletionCreateParams>;

/** The official client, without retries of its own. */
export function openaiClient({ url }: Pick<GantryUnderTest, "url">, apiKey: string): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
}

const question = (text: string): OpenAI.ChatCompletionMessageParam[] => [{ role: "user", content: text }];

export async function askAgent(
  client: OpenAI,
  model: string,
  text: string,
  body: ChatBody = {},
  headers: Record<string, string> = {},
): Promise<{ text: string; runId: string; cost: string | null; usage: OpenAI.CompletionUsage | undefined }> {
  const { data, response } = await client.chat.completions
    .create({ model, messages: question(text), ...body, stream: false }, { headers })
    .withResponse();
  return {
    text: data.choices[0]?.message.content ?? "",
    runId: response.headers.get("x-gantry-run-id") ?? "",
    cost: response.headers.get("x-gantry-cost"),
    usage: data.usage,
  };
}

/** Begins a stream. `seen` grows as the answer arrives; `end` resolves when it is complete or broken. */
export async function streamAgent(
  client: OpenAI,
  model: string,
  text: string,
  { body = {}, headers = {}, signal }: { body?: ChatBody; headers?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<{ seen: SeenStream; end: Promise<SeenStream> }> {
  const seen: SeenStream = { text: "", reasoning: "", pieces: [], usage: undefined, runId: "", error: undefined };
  const options = { headers, ...(signal && { signal }) };
  const params = { model, messages: question(text), stream_options: { include_usage: true }, ...body, stream: true };
  const begin = client.chat.completions.create(params as OpenAI.ChatCompletionCreateParamsStreaming, options);
  const end = begin
    .withResponse()
    .then(async ({ data, response }) => {
      seen.runId = response.headers.get("x-gantry-run-id") ?? "";
      for await (const chunk of data) {
        const delta = chunk.choices[0]?.delta as { content?: string; reasoning_content?: string } | undefined;
        seen.reasoning += delta?.reasoning_content ?? "";
        seen.usage = chunk.usage ?? seen.usage;
        if (!delta?.content) continue;
        seen.text += delta.content;
        seen.pieces.push({ text: delta.content, at: performance.now() });
      }
      return seen;
    })
    .catch((error: unknown) => {
      seen.error = error;
      return seen;
    });
  return { seen, end };
}
