import { type Query, serviceAddress, withQuery } from "./address.ts";
import { tellingBody } from "./body-failures.ts";
import { connectionError, GantryError, unsendable } from "./errors.ts";
import { readLines } from "./events.ts";
import { headerValue } from "./header-value.ts";
import { errorFrom } from "./read-error.ts";
import { mayRepeat, pause, pauseBefore } from "./retry.rules.ts";
import { withoutTimeLimit } from "./time-limit.ts";

export interface CallOptions {
  /** Aborting rejects the call with the signal's reason. */
  signal?: AbortSignal | undefined;
}

export interface Asked extends CallOptions {
  method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** A path of the service, sent with the key; or a whole URL, sent without. */
  path: string;
  query?: Query | undefined;
  json?: unknown;
  /** A stream can be read only once, so such a request is never retried. */
  body?: Blob | ReadableStream<Uint8Array> | undefined;
  headers?: Record<string, string> | undefined;
  idempotencyKey?: string | undefined;
  /** Overrides the client's number. */
  retries?: number | undefined;
  /** A further status that is not a failure. */
  alsoFine?: number | undefined;
  /** The response starts only when the work has ended. */
  answersLate?: boolean | undefined;
}

/** All network calls go through here. Failures are thrown as GantryError. */
export interface Transport {
  readonly retries: number;
  send(asked: Asked): Promise<Response>;
  /** A response whose body the caller reads; failures while reading are GantryErrors too. */
  download(asked: Asked): Promise<Response>;
  json<T>(asked: Asked): Promise<T>;
  jsonWithHeaders<T>(asked: Asked): Promise<{ headers: Headers; body: T }>;
  /** A response that is read line by line as it arrives. */
  open(asked: Asked): Promise<{ headers: Headers; status: number; lines: AsyncGenerator<string> }>;
}

export interface TransportOptions {
  url: string | undefined;
  key?: string | undefined;
  team?: string | undefined;
  fetch?: typeof fetch | undefined;
  retries?: number | undefined;
}

export function createTransport({ url, key, team, fetch: given, retries = 2 }: TransportOptions): Transport {
  const base = serviceAddress(url);
  // Looked up at each call, and called unbound: a browser's fetch is bound to its window.
  const go: typeof fetch = given ?? ((...args) => fetch(...args));

  const addressOf = (path: string) => (path.startsWith("/") ? base + path : path);

  function initOf(asked: Asked): RequestInit {
    const { method, path, json, body = undefined, headers = {}, idempotencyKey, signal } = asked;
    const isOwn = path.startsWith("/");
    const all = new Headers();
    const put = (name: string, value: string) => all.set(name, headerValue(name, value));
    for (const [name, value] of Object.entries(headers)) put(name, value);
    if (isOwn && key !== undefined) put("x-api-key", key);
    if (isOwn && team !== undefined) put("x-gantry-team", team);
    if (idempotencyKey !== undefined) put("idempotency-key", idempotencyKey);
    if (json !== undefined) put("content-type", "application/json");
    else if (body instanceof Blob && body.type) put("content-type", body.type);
    const sent = json === undefined ? body : JSON.stringify(json);
    return {
      method,
      headers: all,
      ...(sent !== undefined && { body: sent }),
      // Streams need half duplex.
      ...(sent instanceof ReadableStream && { duplex: "half" }),
      ...(signal && { signal }),
      ...(isOwn && { redirect: "manual" }),
      ...(isLarge(sent) && sentOnce),
      // A custom fetch has its own timeouts.
      ...(asked.answersLate && given === undefined && withoutTimeLimit()),
    };
  }

  async function attempt<T>(asked: Asked, read: (response: Response) => T | Promise<T>): Promise<T> {
    const { signal } = asked;
    const most = asked.body instanceof ReadableStream ? 0 : (asked.retries ?? retries);
    const address = withQuery(addressOf(asked.path), asked.query);
    const init = initOf(asked);
    // Node's fetch crashes the process if it gets a body and an aborted signal.
    signal?.throwIfAborted();
    for (let tried = 0; ; tried++) {
      let headers: Headers | undefined;
      try {
        const response = await go(address, init);
        headers = response.headers;
        if (!response.ok && response.status !== asked.alsoFine)
          throw errorFrom(response, parsed(await response.text()));
        return await read(response);
      } catch (thrown) {
        signal?.throwIfAborted();
        const failure = thrown instanceof GantryError ? thrown : brokenOff(address, thrown, headers);
        const wait = tried < most && mayRepeat(asked, failure, headers) ? pauseBefore(failure, tried) : undefined;
        if (wait === undefined) throw failure;
        await pause(wait, signal);
      }
    }
  }

  /** Converts a failure while the body is read. */
  const whyBroken =
    ({ path, signal }: Asked, { headers }: Response) =>
    (thrown: unknown): unknown =>
      signal?.aborted ? signal.reason : brokenOff(addressOf(path), thrown, headers);

  async function* linesOf(asked: Asked, response: Response): AsyncGenerator<string> {
    try {
      if (response.body) yield* readLines(response.body);
    } catch (thrown) {
      throw whyBroken(asked, response)(thrown);
    }
  }

  return {
    retries,
    send: (asked) => attempt(asked, (response) => response),
    download: (asked) => attempt(asked, (response) => tellingBody(response, whyBroken(asked, response))),
    json: <T>(asked: Asked) => attempt(asked, (response) => jsonOf<T>(response)),
    jsonWithHeaders: <T>(asked: Asked) =>
      attempt(asked, async (response) => ({ headers: response.headers, body: await jsonOf<T>(response) })),
    async open(asked) {
      const response = await attempt(asked, (opened) => opened);
      return { headers: response.headers, status: response.status, lines: linesOf(asked, response) };
    },
  };
}

const largeBytes = 1_048_576;

/** Unless redirects and prompts are ruled out, the platform buffers everything that it sends. */
const sentOnce = { redirect: "error", window: null } as const;

function isLarge(body: Blob | ReadableStream<Uint8Array> | string | undefined): boolean {
  return body instanceof ReadableStream || (body instanceof Blob && body.size > largeBytes);
}

/** Some errors come with status 200 and a status in the body, beside their detail. */
async function jsonOf<T>(response: Response): Promise<T> {
  const body = (await response.json()) as T & { status_code?: number; detail?: unknown };
  if (body?.status_code === undefined || body.detail === undefined) return body;
  throw errorFrom({ status: body.status_code, headers: response.headers }, body);
}

interface Thrown {
  name?: string;
  /** A number in a DOMException. */
  code?: string | number;
  message?: string;
  cause?: unknown;
}

function brokenOff(address: string, thrown: unknown, headers: Headers | undefined): GantryError {
  const { name, message, cause } = Object(thrown) as Thrown;
  const inner = Object(cause) as Thrown;
  if (name === "NotReadableError" || inner.name === "NotReadableError") {
    return unsendable("The file changed or could not be read while it was sent");
  }
  const reason = (typeof inner.code === "string" && inner.code) || inner.message || message || String(thrown);
  return connectionError(`No complete response from ${new URL(address).origin}: ${reason}`, { cause: thrown, headers });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text === "" ? undefined : { detail: text.slice(0, 200) };
  }
}
