import { withoutTimeLimit } from "@gantry/sdk";
import type { Target } from "../frame/command.ts";
import { Failure } from "../frame/failure.ts";

export interface Message {
  role: "system" | "user" | "assistant";
  content: string;
}

interface Chunk {
  choices?: { delta?: { content?: string | null } }[];
  error?: { message?: string };
}

/** The text of an answer as it is written. A conversation needs a list of messages, which only this API takes. */
export async function* streamAnswer(
  target: Target,
  model: string,
  messages: readonly Message[],
  signal: AbortSignal,
): AsyncGenerator<string> {
  const response = await call(target, { model, messages, stream: true }, signal);
  try {
    for await (const line of linesOf(response)) {
      const data = line.startsWith("data:") ? line.slice(5).trim() : "";
      if (data === "[DONE]") return;
      if (data === "") continue;
      const { choices, error } = JSON.parse(data) as Chunk;
      if (error) throw new Failure(error.message ?? "The answer failed.");
      const text = choices?.[0]?.delta?.content;
      if (text) yield text;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Failure) throw error;
  }
  throw new Failure("The answer is incomplete, because the connection to the server was lost. Ask again.");
}

export async function wholeAnswer(
  target: Target,
  model: string,
  messages: readonly Message[],
  signal: AbortSignal,
): Promise<unknown> {
  return (await call(target, { model, messages }, signal)).json();
}

async function call({ url, key, team }: Target, body: unknown, signal: AbortSignal): Promise<Response> {
  const response = await fetch(`${url.replace(/\/+$/, "")}/v1/chat/completions`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(team !== undefined && { "x-gantry-team": team }),
    },
    body: JSON.stringify(body),
    redirect: "error",
    signal,
    // The response to a whole answer starts when the model has ended.
    ...withoutTimeLimit(),
  }).catch((error: unknown) => {
    signal.throwIfAborted();
    const { code, message } = Object((error as Error).cause ?? error) as { code?: string; message?: string };
    throw new Failure(`No complete response from ${url}: ${code ?? message}. Check with gantry status.`);
  });
  if (response.ok) return response;
  const { error } = (await response.json().catch(() => ({}))) as Chunk;
  throw new Failure(error?.message ?? `The server answered with status ${response.status}.`);
}

async function* linesOf(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}
