import type { Readable } from "node:stream";
import { NetError } from "../net.ts";

/** What is asked of a server. */
export interface Outgoing {
  method: string;
  /** With the query. */
  path: string;
  headers: Record<string, string | string[]>;
  body: string | Uint8Array | Readable | undefined;
}

export interface RequestHead {
  /** To the empty line. One byte a character. */
  text: string;
  isAscii: boolean;
  /** How a body that is a stream is sent: so many bytes, or in chunks. */
  length: number | undefined;
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const forbiddenInValue = /[^\t\x20-\x7e\x80-\xff]/;
const beyondAscii = /[\x80-\xff]/;
const forbiddenInPath = /[^\x21-\x7e]/;
/** Said by this client alone, since they are about the connection and about where the body ends. */
const ofTheConnection = new Set([
  "connection",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
  "expect",
  "te",
  "trailer",
]);
const withoutBody = new Set(["GET", "HEAD", "DELETE"]);

/** The beginning of a request. Throws for what would not be one header, or would say where another request begins. */
export function writeHead({ method, path, headers, body }: Outgoing, host: string): RequestHead {
  if (forbiddenInPath.test(path)) throw unsendable();
  let text = "";
  let hasHost = false;
  let given: number | undefined;
  for (const name in headers) {
    const values = headers[name];
    if (values === undefined) continue;
    if (!token.test(name)) throw unsendable();
    const lower = name.toLowerCase();
    if (ofTheConnection.has(lower)) throw unsendable();
    if (lower === "content-length") {
      given = lengthOf(values);
      continue;
    }
    if (lower === "host") hasHost = true;
    for (const value of typeof values === "string" ? [values] : values) {
      if (forbiddenInValue.test(value)) throw unsendable();
      text += `${name}: ${value}\r\n`;
    }
  }
  const length = bodyLength(body, given);
  const framing = framingOf(method, body, length);
  const hostLine = hasHost ? "" : `host: ${host}\r\n`;
  return {
    text: `${method} ${path} HTTP/1.1\r\n${hostLine}connection: keep-alive\r\n${text}${framing}\r\n`,
    isAscii: !beyondAscii.test(text),
    length,
  };
}

function bodyLength(body: Outgoing["body"], given: number | undefined): number | undefined {
  if (body === undefined) return given === undefined || given === 0 ? 0 : refuse();
  if (typeof body !== "string" && !(body instanceof Uint8Array)) return given;
  const length = typeof body === "string" ? Buffer.byteLength(body) : body.length;
  return given === undefined || given === length ? length : refuse();
}

function framingOf(method: string, body: Outgoing["body"], length: number | undefined): string {
  if (length === undefined) return "transfer-encoding: chunked\r\n";
  return body === undefined && withoutBody.has(method) ? "" : `content-length: ${length}\r\n`;
}

function lengthOf(value: string | string[]): number {
  const text = String(value);
  return /^\d{1,15}$/.test(text) ? Number(text) : refuse();
}

function refuse(): never {
  throw unsendable();
}

function unsendable(): NetError {
  return new NetError("invalid_url", "The request cannot be sent to this address");
}
