import type { ProviderType } from "@gantry/wire";
import { jsonReply, type Reply, type ScriptedServer, type Seen, startScripted } from "../scripted-server.ts";

export interface ProviderScript {
  type: ProviderType;
  /** What people type behind the origin. */
  address: string;
  /** Header in which the key is expected. */
  keyHeader: { name: string; value: (key: string) => string };
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
}

export const bearerKey: ProviderScript["keyHeader"] = { name: "authorization", value: (key) => `Bearer ${key}` };

export const pageReply: Reply = {
  status: 200,
  headers: { "content-type": "text/html; charset=utf-8" },
  body: "<!doctype html><html><head><title>Welcome to nginx!</title></head><body></body></html>",
};

export const redirectReply = (to: string): Reply => ({ status: 301, headers: { location: to }, body: "" });

/** A server that answers as the real one does. Without a key, it asks for none. */
export async function startProvider(script: ProviderScript, key?: string): Promise<ProviderServer> {
  const always: ProviderServer["always"] = {};
  const server = await startScripted((seen) => {
    if (always.reply === "hang") return new Promise<Reply>(() => {});
    if (always.reply !== undefined) return always.reply;
    const route = routeOf(seen);
    const isOpen = key === undefined || script.open?.includes(route);
    if (!isOpen && seen.headers[script.keyHeader.name] !== script.keyHeader.value(key)) return script.refusal;
    const answer = script.routes[route];
    if (answer === undefined) return script.unknown?.(seen) ?? jsonReply({ detail: "Not Found" }, 404);
    const value = answer(seen);
    const reply = isReply(value) ? value : jsonReply(value);
    return { ...reply, headers: { ...reply.headers, ...script.headers } };
  });
  return Object.assign(server, { always, calls: () => server.seen.map(routeOf) });
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
