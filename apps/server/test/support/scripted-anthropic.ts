import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface AnthropicRequest {
  path: string;
  headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire and states what it must be
  body: any;
}

export interface ScriptedAnthropic {
  url: string;
  readonly requests: AnthropicRequest[];
  /** Times at which clients closed a connection before the answer had ended. */
  readonly brokenOffAt: number[];
  play: (request: AnthropicRequest, response: ServerResponse) => void;
  close(): Promise<void>;
}

/** A server at the place of Anthropic's that answers as the test wants. */
export async function startScriptedAnthropic(): Promise<ScriptedAnthropic> {
  const requests: AnthropicRequest[] = [];
  const brokenOffAt: number[] = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    response.on("close", () => {
      if (!response.writableFinished) brokenOffAt.push(performance.now());
    });
    const asked = { path: request.url ?? "", headers: request.headers, body: JSON.parse(text) };
    requests.push(asked);
    upstream.play(asked, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const upstream: ScriptedAnthropic = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    brokenOffAt,
    play: (_, response) => void response.writeHead(500).end(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return upstream;
}

export function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** Events as Anthropic writes them. */
export function eventText(...events: readonly ({ type: string } & Record<string, unknown>)[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

export function sendEvents(response: ServerResponse, text: string): void {
  response.writeHead(200, { "content-type": "text/event-stream" }).end(text);
}

export const messageStart = (usage: object = {}, more: object = {}) => ({
  type: "message_start",
  message: {
    id: "msg_up",
    type: "message",
    role: "assistant",
    model: "claude-real",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 1, ...usage },
    ...more,
  },
});

/** The events of one block. */
export const blockEvents = (index: number, content_block: object, ...deltas: object[]) => [
  { type: "content_block_start", index, content_block },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
];

export const messageEnd = (stop_reason = "end_turn", usage: object = { output_tokens: 5 }) => [
  { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage },
  { type: "message_stop" },
];
