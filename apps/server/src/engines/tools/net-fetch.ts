import { ReadableStream } from "node:stream/web";
import { setTimeout } from "node:timers/promises";
import type { RequestId } from "@modelcontextprotocol/client";
import type { Net, NetBody, NetBounds, NetHeaders, NetRequest } from "../net/net.ts";
import { quote } from "./failures.ts";
import type { ToolLimits } from "./limits.ts";
import { countInAll, eventsIn, listedIn, type MessagePace, paceMessages } from "./message-limits.ts";
import { ToolServerError, type ToolServerTarget } from "./tools.ts";

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** `request` is set if the flood is in the answer to a request. */
type OnFlood = (request: RequestId | undefined) => void;

export interface NetFetch {
  fetch: Fetch;
  /** The failure or status of the last exchange, which the library does not always report. */
  last(): { failure: unknown } | { status: number } | undefined;
  /** Bytes received outside of answers, on the server's own streams. */
  streamed(): number;
}

/** Limit of the text of an error status. */
const refusalBytes = 16_384;
const redirects = new Set([300, 301, 302, 303, 307, 308]);
/** The fetch standard forbids a body, even an empty one. */
const bodiless = new Set([204, 205, 304]);

/**
 * The `fetch` of the MCP library, through the net port, which checks addresses at connect time and bounds sizes and times.
 * Adds the credential, so that the library never sees it. Does not follow redirects. The library's timeouts and aborts
 * arrive as `init.signal`.
 */
export function createNetFetch(net: Net, target: ToolServerTarget, limits: ToolLimits, onFlood: OnFlood): NetFetch {
  const { origin } = new URL(target.url);
  let last: ReturnType<NetFetch["last"]>;
  let streamed = 0;
  const streams = target.connectionType === "sse" ? limits.parallel : 1;
  const pace: MessagePace = {
    atOnce: limits.messagesAtOnce * streams,
    aSecond: limits.messagesASecond * streams,
    heldBackMs: limits.heldBackMs,
  };

  async function fetch(address: string | URL, init: RequestInit = {}): Promise<Response> {
    const url = new URL(address);
    if (url.origin !== origin)
      throw new ToolServerError("protocol", "The server refers to an address on another server");
    const headers = new Headers(init.headers);
    headers.set("user-agent", "gantry");
    if (target.header) headers.set(target.header.name, target.header.value);
    const method = (init.method ?? "GET") as NonNullable<NetRequest["method"]>;
    const unasked = method === "GET" || headers.get("mcp-method") === "subscriptions/listen";
    const answer = await net.request({
      url,
      method,
      headers: Object.fromEntries(headers),
      bounds: boundsOf(unasked),
      ...(typeof init.body === "string" && { body: init.body }),
      ...(init.signal && { signal: init.signal }),
    });
    last = { status: answer.status };
    return toResponse(answer.status, answer.headers, answer.body, {
      isGet: method === "GET",
      answerMessages: limits.answerMessages,
      pace,
      onBytes(bytes) {
        if (unasked) streamed += bytes;
      },
      onFlood(failure) {
        last = { failure };
        onFlood(unasked ? undefined : requestIn(init.body));
      },
    });
  }

  /** The library ends calls earlier. These bounds are for connections that it leaves open. */
  function boundsOf(unasked: boolean): NetBounds {
    const longest = unasked ? limits.ageMs + limits.callTotalMs : limits.callTotalMs + limits.callMs;
    return {
      totalMs: longest,
      headersMs: unasked ? limits.connectMs : longest,
      idleMs: longest,
      maxBytes: unasked ? limits.streamBytes : limits.answerBytes,
    };
  }

  return {
    async fetch(address, init) {
      try {
        return await fetch(address, init);
      } catch (failure) {
        last = { failure };
        throw failure;
      }
    },
    last: () => last,
    streamed: () => streamed,
  };
}

function requestIn(body: unknown): RequestId | undefined {
  return typeof body === "string" ? (JSON.parse(body) as { id?: RequestId }).id : undefined;
}

interface Watch {
  /** The library does not check the content type of GET. */
  isGet: boolean;
  answerMessages: number;
  pace: MessagePace;
  onBytes(bytes: number): void;
  /** Called before the reader gets the error. */
  onFlood(failure: unknown): void;
}

async function toResponse(status: number, headers: NetHeaders, body: NetBody, watch: Watch): Promise<Response> {
  // The reader gets every failure. Later ones do not matter.
  body.on("error", () => {});
  if (redirects.has(status)) {
    body.destroy();
    throw redirected(status, headers);
  }
  if (status < 200 || status > 599) {
    body.destroy();
    throw new ToolServerError("protocol", `The server answers with status ${status}`);
  }
  const shown = { status, headers: plainHeaders(headers) };
  if (bodiless.has(status)) {
    body.destroy();
    return new Response(null, shown);
  }
  if (status >= 300) return new Response(await beginning(body, refusalBytes), shown);
  // Treated as events if the library may parse it as events, regardless of its content type.
  const isJson = !watch.isGet && /^\s*application\/json\s*(;|$)/i.test(shown.headers.get("content-type") ?? "");
  const convert = isJson ? (chunk: Uint8Array) => chunk : lineFeeds();
  return new Response(streamOf(body, convert, pauseAfter(isJson, watch), watch), shown);
}

/** The pause after a chunk. JSON is parsed at its end, so a pause would not help. */
function pauseAfter(isJson: boolean, { answerMessages, pace }: Watch): (chunk: Uint8Array) => number | undefined {
  if (isJson) {
    const [messagesIn, count] = [listedIn(), countInAll(answerMessages)];
    return (chunk) => void count(messagesIn(chunk));
  }
  const [messagesIn, wait] = [eventsIn(), paceMessages(pace)];
  return (chunk) => wait(messagesIn(chunk));
}

function redirected(status: number, { location }: NetHeaders): ToolServerError {
  const where = typeof location === "string" ? ` to ${quote(location)}` : "";
  return new ToolServerError(
    "unreachable",
    `The server redirects${where} (status ${status}). Register that address instead`,
  );
}

function plainHeaders(given: NetHeaders): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    for (const one of [value ?? []].flat()) headers.append(name, one);
  }
  return headers;
}

async function beginning(body: NetBody, most: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= most) break;
    }
  } catch {
    // The received part of the explanation is enough.
  }
  body.destroy();
  return Buffer.concat(chunks).subarray(0, most).toString("utf8");
}

function streamOf(
  body: NetBody,
  convert: (chunk: Uint8Array) => Uint8Array,
  pauseAfter: (chunk: Uint8Array) => number | undefined,
  { onBytes, onFlood }: Watch,
): ReadableStream<Uint8Array> {
  const chunks = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await chunks.next();
      if (done) return controller.close();
      onBytes(value.length);
      const converted = convert(value);
      let pause: number | undefined;
      try {
        pause = pauseAfter(converted);
      } catch (failure) {
        body.destroy();
        onFlood(failure);
        throw failure;
      }
      controller.enqueue(converted);
      // Backpressure: the server can only fill the buffers in between.
      if (pause) await setTimeout(pause, undefined, { ref: false });
    },
    cancel() {
      body.destroy();
    },
  });
}

/**
 * Replaces carriage returns by line feeds. At each line the library's parser searches the rest of the chunk for carriage
 * returns, so a few of them in the right position would keep it busy for long.
 */
function lineFeeds(): (chunk: Uint8Array) => Uint8Array {
  let afterReturn = false;
  return (chunk) => {
    if (!afterReturn && !chunk.includes(13)) return chunk;
    const converted = new Uint8Array(chunk.length);
    let length = 0;
    for (const byte of chunk) {
      if (byte !== 10 || !afterReturn) converted[length++] = byte === 13 ? 10 : byte;
      afterReturn = byte === 13;
    }
    return converted.subarray(0, length);
  };
}
