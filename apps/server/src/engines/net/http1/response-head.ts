import { NetError, type NetHeaders } from "../net.ts";

export interface ResponseHead {
  status: number;
  headers: NetHeaders;
  framing: "length" | "chunked" | "until-close";
  /** For the framing "length". */
  length: number;
  /** The server accepts another request on the connection. */
  persistent: boolean;
  keepAliveMs: number | undefined;
}

const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/;
const token = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
/** Includes a CR or LF outside of a line end. */
const forbidden = /[^\t\x20-\x7e\x80-\xff]/;
const digitsOnly = /^\d{1,15}$/;

/** `text` ends before the empty line. Throws for everything that RFC 9112 does not allow. */
export function readHead(text: string): ResponseHead {
  const lineEnd = text.indexOf("\r\n");
  const matched = statusLine.exec(lineEnd === -1 ? text : text.slice(0, lineEnd));
  if (!matched) throw broken("The server's answer is not HTTP");
  const headers = lineEnd === -1 ? {} : readHeaders(text, lineEnd + 2);
  const options = listed(headers.connection);
  const persistent = matched[1] === "1" ? !options.includes("close") : options.includes("keep-alive");
  return { status: Number(matched[2]), headers, ...framingOf(headers, persistent), keepAliveMs: keepAliveOf(headers) };
}

function readHeaders(text: string, from: number): NetHeaders {
  const headers: NetHeaders = {};
  for (let at = from; at < text.length; ) {
    const found = text.indexOf("\r\n", at);
    const end = found === -1 ? text.length : found;
    const colon = text.indexOf(":", at);
    const name = colon === -1 || colon > end ? "" : text.slice(at, colon).toLowerCase();
    const value = text.slice(colon + 1, end).trim();
    if (!token.test(name) || forbidden.test(value)) throw broken("The server's headers are not HTTP");
    // Would change the prototype of the object.
    if (name !== "__proto__") put(headers, name, value);
    at = end + 2;
  }
  return headers;
}

function put(headers: NetHeaders, name: string, value: string): void {
  const known = headers[name];
  if (known === undefined || !Object.hasOwn(headers, name)) headers[name] = value;
  else if (typeof known === "string") headers[name] = [known, value];
  else known.push(value);
}

function framingOf(headers: NetHeaders, persistent: boolean): Pick<ResponseHead, "framing" | "length" | "persistent"> {
  const codings = listed(headers["transfer-encoding"]);
  const lengths = listed(headers["content-length"]);
  if (codings.length > 0) {
    if (codings.length > 1 || codings[0] !== "chunked")
      throw broken("The server uses a transfer encoding that was not requested");
    // With a length as well, the end is ambiguous: the chunks count, and the connection is not reused.
    return { framing: "chunked", length: 0, persistent: persistent && lengths.length === 0 };
  }
  const [first] = lengths;
  if (first === undefined) return { framing: "until-close", length: 0, persistent: false };
  if (!digitsOnly.test(first) || lengths.some((length) => length !== first)) {
    throw broken("The length of the server's answer is invalid");
  }
  return { framing: "length", length: Number(first), persistent };
}

function keepAliveOf(headers: NetHeaders): number | undefined {
  const hint = headers["keep-alive"];
  const seconds = typeof hint === "string" ? /(?:^|[\s,;])timeout=(\d{1,6})/i.exec(hint)?.[1] : undefined;
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

/** The members of a list header, in lower case. */
function listed(value: string | string[] | undefined): string[] {
  if (value === undefined) return [];
  return String(value)
    .toLowerCase()
    .split(",")
    .map((one) => one.trim());
}

export function broken(message: string): NetError {
  return new NetError("cut", message);
}
