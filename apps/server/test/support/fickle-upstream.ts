import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** How an upstream treats a call. */
export type Behaviour =
  /** Answers, after a time and once `until` is settled. `usage` is reported. */
  | {
      text: string;
      afterMs?: number;
      until?: Promise<unknown>;
      reasoning?: string;
      usage?: { in: number; out: number };
    }
  | { status: number; retryAfter?: number; body?: string }
  /** Accepts the call and sends nothing. */
  | "hang"
  /** Sends headers and then nothing. */
  | "hang in headers"
  /** Sends some text and then nothing. */
  | { beginsWith: string }
  /** Closes the connection before an answer. */
  | "cut"
  /** Ends the stream before its first event. */
  | "cut in headers"
  /** Sends some text and closes the connection. */
  | { cutAfter: string };

export interface FickleUpstream {
  url: string;
  readonly requests: Record<string, unknown>[];
  readonly open: number;
  /** The most calls that were open at once. */
  readonly peak: number;
  behaviour: Behaviour | ((n: number) => Behaviour);
  /** Closes the port: connections are refused. */
  stop(): Promise<void>;
  /** Opens the same port again. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** An OpenAI-compatible chat server that fails in the ways in which real ones fail. */
export async function startFickleUpstream(behaviour: FickleUpstream["behaviour"]): Promise<FickleUpstream> {
  const requests: Record<string, unknown>[] = [];
  const open = new Set<ServerResponse>();
  let [port, peak] = [0, 0];

  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const asked = body === "" ? {} : JSON.parse(body);
    if (!response.destroyed) open.add(response);
    peak = Math.max(peak, open.size);
    response.on("close", () => open.delete(response));
    requests.push(asked);
    const { behaviour: chosen } = upstream;
    await behave(response, typeof chosen === "function" ? chosen(requests.length) : chosen, asked.stream !== false);
  });
  const listen = () =>
    new Promise<void>((resolve) => {
      server.listen(port, "127.0.0.1", () => {
        port = (server.address() as AddressInfo).port;
        resolve();
      });
    });
  const stop = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  await listen();
  const upstream: FickleUpstream = {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    get open() {
      return open.size;
    },
    get peak() {
      return peak;
    },
    behaviour,
    stop,
    start: listen,
    close: () => (server.listening ? stop() : Promise.resolve()),
  };
  return upstream;
}

const eventOf = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

async function behave(response: ServerResponse, how: Behaviour, isStream: boolean): Promise<void> {
  const begin = () => response.writeHead(200, { "content-type": "text/event-stream" });
  if (how === "hang") return;
  if (how === "cut") return void response.destroy();
  if (how === "hang in headers") return begin().flushHeaders();
  if (how === "cut in headers") return void begin().end();
  if ("status" in how) {
    const { status, retryAfter, body = '{"error":{"message":"no"}}' } = how;
    const wait = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
    response.writeHead(status, { "content-type": "application/json", ...wait }).end(body);
    return;
  }
  if ("beginsWith" in how) return void begin().write(eventOf({ content: how.beginsWith }));
  if ("cutAfter" in how) {
    begin().write(eventOf({ content: how.cutAfter }), () => response.destroy());
    return;
  }
  const { text, afterMs = 0, until, reasoning, usage = { in: 100, out: 10 } } = how;
  if (reasoning) begin().write(eventOf({ reasoning_content: reasoning }));
  if (afterMs > 0) await new Promise((resolve) => setTimeout(resolve, afterMs));
  await until;
  if (response.destroyed) return;
  const figures = { prompt_tokens: usage.in, completion_tokens: usage.out, total_tokens: usage.in + usage.out };
  if (!isStream) {
    const message = { role: "assistant", content: text };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ id: "c", object: "chat.completion", choices, usage: figures }));
    return;
  }
  if (!reasoning) begin();
  response.write(eventOf({ content: text }));
  response.write(eventOf({}, "stop"));
  response.end(`data: ${JSON.stringify({ choices: [], usage: figures })}\n\ndata: [DONE]\n\n`);
}
