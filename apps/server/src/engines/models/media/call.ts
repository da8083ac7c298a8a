import type { ObjectSchema } from "@gantry/wire";
import { Fault } from "../../../kernel/errors.ts";
import { type Net, NetError, type NetResponse } from "../../net/net.ts";
import type { ModelCall } from "../driver.ts";
import { hideNothing, type Mask } from "../mask.ts";
import { createSseReader, type SseEvent } from "../sse.ts";
import { broken, requestUpstream, requestUpstreamOnce, toFault, type UpstreamCall } from "../upstream.ts";
import { type JsonAnswer, readJsonAnswer } from "./json-answer.ts";
import { openBody, type RequestBody } from "./request-body.ts";

/** Options of every backend that produces files. */
export interface MediaBackend {
  net: Net;
  /** Base URL of the protocol's paths. */
  url: string;
  key?: string | undefined;
  mask: Mask;
  /** The manifest's fields, in order. */
  input: ObjectSchema;
  output: ObjectSchema;
  /** Large answers are stored here until they are complete. */
  spoolFolder: string;
  maxFileBytes?: number;
  /** Of one call, 3 by default. */
  tries?: number | undefined;
}

/** The size limit of an uploaded video. */
const defaultMaxFileBytes = 500 * 1024 * 1024;
/** Bounds the part of an answer that is not a file. */
export const maxTextBytes = 16 * 1024 * 1024;
/** `readJsonAnswer` keeps texts of up to this length in memory. */
const shortAnswer = 32 * 1024;
export const nothingToDiscard = async () => {};
/** The model's time limit ends a call through its signal, so network timeouts must be longer. */
const day = 86_400_000;

export function maxFileBytesOf(backend: MediaBackend): number {
  return backend.maxFileBytes ?? defaultMaxFileBytes;
}

/** Sends a body that may contain files and resolves with a 2xx response. */
export function postUpstream(backend: MediaBackend, call: MediaCall, body: RequestBody): Promise<NetResponse> {
  return requestUpstream(backend.net, runRequest(backend, call, body));
}

/** One try, for backends that retry by rules of their own. */
export async function postUpstreamOnce(
  backend: MediaBackend,
  call: MediaCall,
  body: RequestBody,
): Promise<NetResponse> {
  const request = runRequest(backend, call, body);
  return requestUpstreamOnce(backend.net, request).catch((error: unknown) => {
    // The reason is an input file of ours that could not be read.
    request.signal.throwIfAborted();
    throw error;
  });
}

type MediaCall = Omit<UpstreamCall, "body" | "method" | "mask" | "isMediaRun">;

function runRequest(backend: MediaBackend, call: MediaCall, body: RequestBody): UpstreamCall {
  const request: UpstreamCall = {
    ...call,
    mask: backend.mask,
    tries: backend.tries,
    method: "POST",
    isMediaRun: true,
    headers: { ...call.headers, "content-type": body.contentType, "content-length": String(body.length) },
    // Base64 makes three bytes four.
    bounds: {
      totalMs: day,
      headersMs: day,
      idleMs: day,
      maxBytes: maxTextBytes + 2 * maxFileBytesOf(backend),
      ...call.bounds,
    },
  };
  if (body.text !== undefined) {
    request.body = body.text;
    return request;
  }
  const source = new AbortController();
  request.signal = AbortSignal.any([call.signal, source.signal]);
  request.body = () => openBody(body, (error) => source.abort(error));
  return request;
}

/** The JSON of an answer, with its files as spools. */
export async function readAnswer(
  backend: MediaBackend,
  call: Pick<ModelCall, "signal">,
  answer: NetResponse,
  options: { bareBase64: boolean },
): Promise<JsonAnswer> {
  try {
    // A short answer cannot contain a file that needs a spool.
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
    throw answerFault(error, backend.mask);
  }
}

/** For an answer that broke off or violates the protocol. */
export function answerFault(error: unknown, mask: Mask = hideNothing): unknown {
  if (error instanceof Fault) return error;
  if (error instanceof NetError) return toFault(error, mask);
  // The message of `JSON.parse` quotes the answer.
  if (error instanceof SyntaxError) return broken(new Error("The upstream's answer is not JSON"));
  return broken(new Error(mask(error instanceof Error ? error.message : String(error))));
}

export function isEventStream(answer: NetResponse): boolean {
  return String(answer.headers["content-type"] ?? "").startsWith("text/event-stream");
}

/** Reads the next chunk only when all events so far were consumed. */
export async function* eventsOf(
  answer: NetResponse,
  options: { signal: AbortSignal; mask: Mask },
): AsyncGenerator<SseEvent> {
  const sse = createSseReader();
  try {
    for await (const chunk of answer.body) yield* sse.push(chunk as Buffer);
    yield* sse.end();
  } catch (error) {
    options.signal.throwIfAborted();
    throw answerFault(error, options.mask);
  }
}

/** Undefined if the text is not a JSON object. */
export function objectOf(data: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
