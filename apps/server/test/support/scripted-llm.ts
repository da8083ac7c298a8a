import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface LlmRequest {
  model: string;
  messages: { role: string; content: string | null; tool_calls?: unknown[]; tool_call_id?: string }[];
  tools?: { function: { name: string; parameters: Record<string, unknown> } }[];
  tool_choice?: unknown;
  response_format?: unknown;
  max_tokens?: number;
}

export type LlmAnswer =
  | {
      text?: string;
      reasoning?: string;
      /** String arguments are sent unchanged, JSON or not. */
      calls?: readonly { name: string; args: unknown }[];
      /** The finish reason, if it differs from the usual one. */
      finish?: string;
      /** Sends all this and then hangs. */
      hangs?: boolean;
      /** Null: not reported. */
      usage?: { in: number; out: number; cached?: number; written?: number } | null;
    }
  /** An error status of the upstream. */
  | { status: number; retryAfter?: number };

/** Answers the n-th request of this server. */
export type Script = (request: LlmRequest, n: number) => LlmAnswer | Promise<LlmAnswer>;

export interface ScriptedLlm {
  url: string;
  readonly requests: LlmRequest[];
  /** Open calls whose requests the script has. */
  readonly open: number;
  script: Script;
  close(): Promise<void>;
}

/** An OpenAI-compatible chat server that plays a script, streamed as the real one does. */
export async function startScriptedLlm(script: Script = () => ({ text: "done" })): Promise<ScriptedLlm> {
  const requests: LlmRequest[] = [];
  const open = new Set<ServerResponse>();
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const asked = JSON.parse(body) as LlmRequest;
    requests.push(asked);
    if (!response.destroyed) open.add(response);
    response.on("close", () => open.delete(response));
    const answer = await llm.script(asked, requests.length);
    if (response.destroyed) return;
    if ("status" in answer) {
      const { status, retryAfter } = answer;
      const wait = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
      response.writeHead(status, { "content-type": "application/json", ...wait }).end('{"error":{"message":"no"}}');
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (delta: object, finish: string | null = null) =>
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
    if (answer.reasoning) send({ reasoning_content: answer.reasoning });
    for (const word of (answer.text ?? "").match(/\s*\S+|\s+/g) ?? []) send({ content: word });
    for (const [index, call] of (answer.calls ?? []).entries()) {
      const given = typeof call.args === "string" ? call.args : JSON.stringify(call.args);
      const id = `call_${requests.length}_${index}`;
      send({ tool_calls: [{ index, id, type: "function", function: { name: call.name, arguments: "" } }] });
      for (const piece of given.match(/.{1,20}/gs) ?? [])
        send({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
    if (answer.hangs) {
      if (answer.usage) response.write(usageEvent(answer.usage));
      return;
    }
    send({}, answer.finish ?? ((answer.calls ?? []).length > 0 ? "tool_calls" : "stop"));
    const told = answer.usage === null ? "" : usageEvent(answer.usage ?? { in: 100, out: 10 });
    response.end(`${told}data: [DONE]\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const llm: ScriptedLlm = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    get open() {
      return open.size;
    },
    script,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return llm;
}

function usageEvent(reported: { in: number; out: number; cached?: number; written?: number }): string {
  const usage = {
    prompt_tokens: reported.in,
    completion_tokens: reported.out,
    prompt_tokens_details: {
      cached_tokens: reported.cached ?? 0,
      ...(reported.written !== undefined && { cache_write_tokens: reported.written }),
    },
  };
  return `data: ${JSON.stringify({ choices: [], usage })}\n\n`;
}

/** Returns the answers in order, then repeats the last. */
export function inTurn(...answers: LlmAnswer[]): Script {
  let n = 0;
  return () => answers[Math.min(n++, answers.length - 1)] as LlmAnswer;
}

/** Tool results in the request, in order. */
export function toolResults(request: LlmRequest | undefined): string[] {
  return (request?.messages ?? []).filter(({ role }) => role === "tool").map(({ content }) => content ?? "");
}
