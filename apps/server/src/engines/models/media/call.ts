import type { ObjectSchema } from "@gantry/wire";
import { Fault } from "../../../kernel/errors.ts";
import { type Net, NetError, type NetResponse } from "../../net/net.ts";
import type { ModelCall } from "../driver.ts";
import { createSseReader, type SseEvent } from "../sse.ts";
import { broken, masked, requestUpstream, toFault, type UpstreamCall } from "../upstream.ts";
import { type JsonAnswer, readJsonAnswer } from "./json-answer.ts";
import { openBody, type RequestBody } from "./request-body.ts";

/** What every backend that makes files is created with. */
export interface MediaBackend {
  net: Net;
  /** The base that the protocol's paths are appended to. */
  url: string;
  key?: string | undefined;
  /** The manifest's fields: which inputs there are, in their order, and which outputs are to be filled. */
  input: ObjectSchema;
  output: ObjectSchema;
  /** Where a large answer waits until it is complete. */
  spoolFolder: string;
  maxFileBytes?: number;
}

/** As large as the largest video that may be uploaded. */
const defaultMaxFileBytes = 500 * 1024 * 1024;
/** Of everything in an answer that is no file. */
export const maxTextBytes = 16 * 1024 * 1024;
/** No longer than what `readJsonAnswer` keeps as a text. */
const shortAnswer = 32 * 1024;
export const nothingToDiscard = async () => {};
/** The model's own time limit ends a call by its signal; these only must not come first. */
const day = 86_400_000;

export function maxFileBytesOf(backend: MediaBackend): number {
  return backend.maxFileBytes ?? defaultMaxFileBytes;
}

/** Sends a body that may hold files and gives the answer of a 2xx. Repeated, as long as nothing was answered. */
export function postUpstream(
  backend: MediaBackend,
  call: Omit<UpstreamCall, "body" | "method" | "key">,
  body: RequestBody,
): Promise<NetResponse> {
  const request: UpstreamCall = {
    ...call,
    key: backend.key,
    method: "POST",
    headers: { ...call.headers, "content-type": body.contentType, "content-length": String(body.length) },
    // Base64 makes three bytes four.
    bounds: { totalMs: day, headersMs: day, idleMs: day, maxBytes: maxTextBytes + 2 * maxFileBytesOf(backend) },
  };
  if (body.text !== undefined) {
    request.body = body.text;
    return requestUpstream(backend.net, request);
  }
  const source = new AbortController();
  request.signal = AbortSignal.any([call.signal, source.signal]);
  request.body = () => openBody(body, (error) => source.abort(error));
  return requestUpstream(backend.net, request);
}

/** The JSON of an answer, its files as spools. */
export async function readAnswer(
  backend: MediaBackend,
  call: Pick<ModelCall, "signal">,
  answer: NetResponse,
  options: { bareBase64: boolean },
): Promise<JsonAnswer> {
  try {
    // What is short cannot hold a file that would have to be spooled.
    if (Number(answer.headers["content-length"]) <= shortAnswer) {
      return { value: JSON.parse(await answer.body.text()), discard: nothingToDiscard };
    }
    return await readJsonAnswer(answer.body as AsyncIterable<Buffer>, {
      spoolFolder: backend.spoolFolder,
      maxTextBytes,
      maxFileBytes: maxFileBytesOf(backend),
      ...options,
    });
  } catch (error) {
    call.signal.throwIfAborted();
    throw answerFault(error, backend.key);
  }
}

/** An answer that broke off or is not what the protocol says. Nothing of it is told. */
export function answerFault(error: unknown, key: string | undefined): unknown {
  if (error instanceof Fault) return error;
  if (error instanceof NetError) return toFault(error, key);
  // What JSON.parse says quotes the answer.
  if (error instanceof SyntaxError) return broken(new Error("The upstream's answer is no JSON"));
  return broken(new Error(masked(error instanceof Error ? error.message : String(error), key)));
}

export function isEventStream(answer: NetResponse): boolean {
  return String(answer.headers["content-type"] ?? "").startsWith("text/event-stream");
}

/** The events of an answer one by one; the next piece is read when the last event was dealt with. */
export async function* eventsOf(
  answer: NetResponse,
  options: { signal: AbortSignal; key: string | undefined },
): AsyncGenerator<SseEvent> {
  const sse = createSseReader();
  try {
    for await (const chunk of answer.body) yield* sse.push(chunk as Buffer);
    yield* sse.end();
  } catch (error) {
    options.signal.throwIfAborted();
    throw answerFault(error, options.key);
  }
}

/** The object of an event's data; undefined where it holds none. */
export function objectOf(data: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
