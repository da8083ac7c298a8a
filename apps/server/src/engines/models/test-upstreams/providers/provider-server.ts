import type { ProviderType } from "@gantry/wire";
import { jsonReply, type Reply, type ScriptedServer, type Seen, startScripted } from "../scripted-server.ts";

interface KeyHeader {
  name: string;
  value: (key: string) => string;
}

export interface ProviderScript {
  type: ProviderType;
  /** What people type behind the origin. */
  address: string;
  /** Headers in which the key is accepted. */
  keyHeaders: KeyHeader[];
  /** How a wrong or missing key is answered. */
  refusal: Reply;
  /** By method and path, without the query. */
  routes: Record<string, (seen: Seen) => unknown>;
  /** Routes that need no key. */
  open?: string[];
  /** The answer to any other route. */
  unknown?: (seen: Seen) => Reply;
  headers?: Record<string, string>;
}

export interface ProviderServer extends ScriptedServer {
  /** Replaces every answer. */
  always: { reply?: Reply | "hang" | undefined };
  /** Method and path of each request, without the query. */
  calls(): string[];
  /** Those with a wrong key or an unknown path. */
  refused: string[];
}

export const bearerKey: KeyHeader = { name: "authorization", value: (key) => `Bearer ${key}` };
export const headerKey = (name: string): KeyHeader => ({ name, value: (key) => key });

export const pageReply: Reply = {
  status: 200,
  headers: { "content-type": "text/html; charset=utf-8" },
  body: "<!doctype html><html><head><title>Welcome to nginx!</title></head><body></body></html>",
};

export const redirectReply = (to: string): Reply => ({ status: 301, headers: { location: to }, body: "" });

/** A server that answers as the real one does. Without a key, it asks for none. */
export async function startProvider(script: ProviderScript, key?: string): Promise<ProviderServer> {
  const always: ProviderServer["always"] = {};
  const refused: string[] = [];
  const server = await startScripted((seen) => {
    if (always.reply === "hang") return new Promise<Reply>(() => {});
    if (always.reply !== undefined) return always.reply;
    const route = routeOf(seen);
    const isOpen = key === undefined || script.open?.includes(route);
    if (!isOpen && !script.keyHeaders.some(({ name, value }) => seen.headers[name] === value(key))) {
      refused.push(route);
      return script.refusal;
    }
    const answer = script.routes[route];
    if (answer === undefined) {
      refused.push(route);
      return script.unknown?.(seen) ?? jsonReply({ detail: "Not Found" }, 404);
    }
    const value = answer(seen);
    const reply = isReply(value) ? value : jsonReply(value);
    return { ...reply, headers: { ...reply.headers, ...script.headers } };
  });
  return Object.assign(server, { always, refused, calls: () => server.seen.map(routeOf) });
}

function routeOf({ method, path }: Seen): string {
  return `${method} ${path.split("?")[0]}`;
}

export function queryOf({ path }: Seen): URLSearchParams {
  return new URL(path, "http://localhost").searchParams;
}

function isReply(value: unknown): value is Reply {
  return typeof value === "object" && value !== null && "status" in value && "headers" in value && "body" in value;
}

const usage = { prompt_tokens: 8, completion_tokens: 1, total_tokens: 9 };

function chatAnswer({ body }: Seen): unknown {
  const { model, stream } = JSON.parse(String(body)) as { model?: string; stream?: boolean };
  const answer = { id: "chatcmpl-1", created: 1763400000, model };
  if (stream) {
    const choices = [{ index: 0, delta: { role: "assistant", content: "Hello" }, finish_reason: "length" }];
    return eventsReply([{ ...answer, object: "chat.completion.chunk", choices, usage }, "[DONE]"]);
  }
  const choices = [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "length" }];
  return { ...answer, object: "chat.completion", choices, usage };
}

/** Server-sent events. An event with a type is also named. */
export function eventsReply(events: readonly (object | string)[]): Reply {
  const lines = events.map((event) => {
    const name = typeof event === "object" && "type" in event ? `event: ${event.type}\n` : "";
    return `${name}data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`;
  });
  return { status: 200, headers: { "content-type": "text/event-stream" }, body: lines.join("") };
}

/** The Messages API of Anthropic and of servers that speak it. */
export function messagesAnswer({ body }: Seen): unknown {
  const { model, stream } = JSON.parse(String(body)) as { model: string; stream?: boolean };
  const message = { id: "msg_1", type: "message", role: "assistant", model };
  if (!stream) return { ...message, content: [{ type: "text", text: "Hello" }], stop_reason: "max_tokens" };
  return eventsReply([
    { type: "message_start", message: { ...message, content: [], usage: { input_tokens: 8, output_tokens: 1 } } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello" } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "max_tokens" }, usage: { output_tokens: 1 } },
    { type: "message_stop" },
  ]);
}

/** The routes for calls of models that most servers have. */
export function openAiRoutes(base: string): ProviderScript["routes"] {
  return {
    [`POST ${base}/chat/completions`]: chatAnswer,
    [`POST ${base}/embeddings`]: () => ({
      object: "list",
      data: [{ object: "embedding", index: 0, embedding: [0.5] }],
    }),
    [`POST ${base}/images/generations`]: () => ({ created: 1763400000, data: [{ b64_json: "aGVsbG8=" }] }),
  };
}
