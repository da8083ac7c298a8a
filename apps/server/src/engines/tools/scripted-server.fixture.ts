import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Message {
  id?: number | string;
  method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: parameters of any method
  params?: any;
}

export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  message: Message;
  /** Answers with JSON. */
  answer(result: unknown): void;
  /** Answers with an event stream. Each call sends one message. */
  send(message: object): void;
}

export interface Script {
  /** Runs first. True if it has answered. */
  before?(request: IncomingMessage, response: ServerResponse): boolean;
  /** By method, instead of the usual answer. */
  [method: `on ${string}`]: ((exchange: Exchange) => void) | undefined;
  /** The server's own stream, outside of answers. */
  onStream?(request: IncomingMessage, response: ServerResponse): void;
}

export interface ScriptedServer {
  url: string;
  origin: string;
  script: Script;
  messages: Message[];
  requests: { method: string; headers: IncomingMessage["headers"] }[];
  /** Number of open connections. */
  open(): number;
  close(): Promise<void>;
}

export const initializeResult = {
  protocolVersion: "2025-06-18",
  capabilities: { tools: { listChanged: true } },
  serverInfo: { name: "scripted", version: "1" },
};

export const echoTool = { name: "echo", description: "Repeats its input.", inputSchema: { type: "object" } };

/** A streamable HTTP server without a library, which can misbehave in any way. */
export async function scriptedServer(script: Script = {}): Promise<ScriptedServer> {
  const server = createServer((request, response) => {
    void serve(request, response);
  });
  let sockets = 0;
  server.on("connection", (socket) => {
    sockets += 1;
    socket.once("close", () => {
      sockets -= 1;
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const scripted: ScriptedServer = {
    url: `${origin}/mcp`,
    origin,
    script,
    messages: [],
    requests: [],
    open: () => sockets,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    scripted.requests.push({ method: request.method ?? "", headers: request.headers });
    if (scripted.script.before?.(request, response)) return;
    if (request.method === "GET" && scripted.script.onStream) return scripted.script.onStream(request, response);
    if (request.method !== "POST") return void response.writeHead(405).end();
    let text = "";
    for await (const chunk of request) text += chunk;
    const message = JSON.parse(text) as Message;
    scripted.messages.push(message);
    const exchange: Exchange = {
      request,
      response,
      message,
      answer: (result) => json(response, { jsonrpc: "2.0", id: message.id, result }),
      send: (one) => {
        if (!response.headersSent) response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", ...one })}\n\n`);
      },
    };
    const own = scripted.script[`on ${message.method ?? "answer"}`];
    if (own) return own(exchange);
    if (message.id === undefined || message.method === undefined) return void response.writeHead(202).end();
    if (message.method === "initialize") return exchange.answer(initializeResult);
    if (message.method === "tools/list") return exchange.answer({ tools: [echoTool] });
    const error = { code: -32601, message: "Method not found" };
    json(response, { jsonrpc: "2.0", id: message.id, error });
  }
  return scripted;
}

export function json(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

export const text = (said: string) => ({ content: [{ type: "text", text: said }] });
