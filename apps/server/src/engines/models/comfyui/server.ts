import { Fault } from "../../../kernel/errors.ts";
import { type Net, NetError } from "../../net/net.ts";
import type { Mask } from "../mask.ts";
import { answerFault } from "../media/call.ts";
import { isJsonObject } from "../media/output-fields.ts";
import {
  broken,
  joinUrl,
  requestUpstreamOnce,
  toFault,
  type UpstreamCall,
  UpstreamFailure,
  withRetries,
} from "../upstream.ts";
import { parseJson } from "./python-json.ts";

export interface ComfyConnection {
  net: Net;
  url: string;
  key?: string | undefined;
  mask?: Mask;
  /** Of a prompt, 3 by default. */
  tries?: number | undefined;
}

/** Where a prompt is. `unknown`: the queue is too long to be read. */
export type Place = "waiting" | "running" | "absent" | "unknown";

export interface QueuedPrompt {
  id: string;
  clientId: string | undefined;
}

export interface Queue {
  running: readonly QueuedPrompt[];
  waiting: readonly QueuedPrompt[];
}

/** Loading a model can block ComfyUI's only thread for a while. */
const slow = { totalMs: 180_000, headersMs: 120_000, idleMs: 60_000 };
const megabyte = 1024 * 1024;
/** The queue contains the whole workflow of every waiting prompt. */
const longestQueue = 8 * megabyte;
const longestEntry = 16 * megabyte;
const longestReply = megabyte;
const pollTries = 4;

/** ComfyUI itself has no keys; proxies in front of it do. */
export function comfyHeaders({ key }: Pick<ComfyConnection, "key">): Record<string, string> {
  return key ? { authorization: `Bearer ${key}` } : {};
}

export async function getJson(
  connection: ComfyConnection,
  path: string,
  signal: AbortSignal,
  maxBytes: number,
): Promise<unknown> {
  const answer = await getBounded(connection, path, signal, maxBytes);
  if (answer === "too large") throw broken(new Error(`The answer is longer than ${maxBytes} bytes`));
  return answer.json;
}

/** For answers that may be too large on a healthy server. */
export async function getBounded(
  connection: ComfyConnection,
  path: string,
  signal: AbortSignal,
  maxBytes: number,
): Promise<{ json: unknown } | "too large"> {
  const call: UpstreamCall = {
    url: joinUrl(connection.url, path),
    method: "GET",
    headers: { ...comfyHeaders(connection), accept: "application/json" },
    mask: connection.mask,
    signal,
    tries: pollTries,
    bounds: { ...slow, maxBytes },
  };
  const text = await withRetries(call, async () => {
    try {
      return await (await requestUpstreamOnce(connection.net, call)).body.text();
    } catch (error) {
      if (error instanceof NetError && error.reason === "too_large") return undefined;
      throw error;
    }
  });
  return text === undefined ? "too large" : { json: parseJson(text) };
}

export async function postJson(
  connection: ComfyConnection,
  path: string,
  body: unknown,
  options: Pick<UpstreamCall, "signal" | "explain" | "onBegun">,
): Promise<string> {
  const answer = await requestUpstreamOnce(connection.net, {
    url: joinUrl(connection.url, path),
    headers: { ...comfyHeaders(connection), "content-type": "application/json" },
    body: JSON.stringify(body),
    mask: connection.mask,
    bounds: { ...slow, maxBytes: longestReply },
    errorBytes: longestReply,
    ...options,
  });
  return answer.body.text().catch((error: unknown) => {
    options.signal.throwIfAborted();
    throw answerFault(error, connection.mask);
  });
}

/** Undefined until the prompt has ended. */
export async function historyOf(
  connection: ComfyConnection,
  id: string,
  signal: AbortSignal,
): Promise<Record<string, unknown> | undefined> {
  const history = await getJson(connection, `history/${encodeURIComponent(id)}`, signal, longestEntry);
  const entry = isJsonObject(history) && Object.hasOwn(history, id) ? history[id] : undefined;
  return isJsonObject(entry) ? entry : undefined;
}

/** Undefined if the queue is too long to be read. */
export async function queueOf(connection: ComfyConnection, signal: AbortSignal): Promise<Queue | undefined> {
  const answer = await getBounded(connection, "queue", signal, longestQueue);
  if (answer === "too large") return undefined;
  const { json: queue } = answer;
  const { queue_running: running, queue_pending: waiting } = isJsonObject(queue) ? queue : {};
  return { running: promptsIn(running), waiting: promptsIn(waiting) };
}

/** Each item is `[number, id, workflow, extra data, outputs]`. */
function promptsIn(items: unknown): QueuedPrompt[] {
  return (Array.isArray(items) ? items : []).flatMap((item: unknown) => {
    const [, id, , extra]: unknown[] = Array.isArray(item) ? item : [];
    if (typeof id !== "string") return [];
    const clientId = isJsonObject(extra) ? extra.client_id : undefined;
    return [{ id, clientId: typeof clientId === "string" ? clientId : undefined }];
  });
}

export function placeIn(queue: Queue | undefined, id: string): Place {
  if (!queue) return "unknown";
  if (queue.running.some((prompt) => prompt.id === id)) return "running";
  return queue.waiting.some((prompt) => prompt.id === id) ? "waiting" : "absent";
}

/** Servers before 0.3.45 choose the id of a prompt themselves; the id of the client is always ours. */
export function ownIn(queue: Queue | undefined, ownId: string): string | undefined {
  const prompts = [...(queue?.running ?? []), ...(queue?.waiting ?? [])];
  return prompts.find(({ id, clientId }) => id === ownId || clientId === ownId)?.id;
}

export interface Submission {
  /** The server's name for the prompt. */
  id: string;
  answer: unknown;
}

/** Whether the server may have queued a prompt without our knowledge. */
export interface Submitting {
  mayBeQueued: boolean;
}

/**
 * Adds a prompt to the server's queue. After a connection that broke before the answer, the queue is searched first: the
 * server does not notice that it gets the same prompt twice.
 */
export function submitPrompt(
  connection: ComfyConnection,
  ownId: string,
  prompt: unknown,
  submitting: Submitting,
  options: Pick<UpstreamCall, "signal" | "explain" | "onBegun">,
): Promise<Submission> {
  const { mask, tries } = connection;
  // Only with the id of a client the history lists the outputs of nodes that the server had cached.
  const body = { prompt, client_id: ownId, prompt_id: ownId };
  return withRetries({ signal: options.signal, mask, tries }, async () => {
    if (submitting.mayBeQueued) {
      const id = await foundPrompt(connection, ownId, options.signal);
      if (id !== undefined) return { id, answer: undefined };
    }
    submitting.mayBeQueued = true;
    try {
      const answer = parseJson(await postJson(connection, "prompt", body, options));
      const id = isJsonObject(answer) ? answer.prompt_id : undefined;
      return { id: typeof id === "string" && id !== "" ? id : ownId, answer };
    } catch (error) {
      if (isRefused(error)) submitting.mayBeQueued = false;
      const isFailed = error instanceof UpstreamFailure && error.status === 500;
      throw isFailed ? toFault(error, mask) : error;
    }
  });
}

/** The server refused the prompt, or was not reached. */
function isRefused(error: unknown): boolean {
  if (error instanceof NetError) return error.reason !== "cut" && error.reason !== "timeout";
  const failure = error instanceof Fault ? error.cause : error;
  return failure instanceof UpstreamFailure && failure.status < 500;
}

async function foundPrompt(
  connection: ComfyConnection,
  ownId: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const id = ownIn(await queueOf(connection, signal), ownId);
  if (id !== undefined) return id;
  return (await historyOf(connection, ownId, signal)) && ownId;
}
