import type { Readable } from "node:stream";
import { NetError } from "../net.ts";

export interface Outgoing {
  method: string;
  /** Includes the query. */
  path: string;
  headers: Record<string, string | string[]>;
  body: string | Uint8Array | Readable | undefined;
}

export interface RequestHead {
  /** Includes the empty line. One byte per character. */
  text: string;
  isAscii: boolean;
  /** Undefined: the body is sent in chunks. */
  length: number | undefined;
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const forbiddenInValue = /[^\t\x20-\x7e\x80-\xff]/;
const beyondAscii = /[\x80-\xff]/;
const forbiddenInPath = /[^\x21-\x7e]/;
/** Only this client sets them, because they control the connection and the end of the body. */
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

/** Throws for headers that would inject other headers or requests. */
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
