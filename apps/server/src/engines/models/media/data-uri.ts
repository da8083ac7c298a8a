import type { Readable } from "node:stream";
import type { FileInput } from "../driver.ts";

const base64Header = /^data:([^,;\s]{0,127})((?:;[^,;\s]{1,200}){0,8});base64,/i;
/** Only an attacker sends a longer header. */
const longestDataUriHeader = 2048;

export interface DataUriHeader {
  /** Undefined if the URI has no type. */
  mediaType: string | undefined;
  /** Where the base64 text begins. */
  length: number;
}

/** Undefined if the text is not a base64 data URI. Only the first characters of the text are needed. */
export function readDataUriHeader(text: string): DataUriHeader | undefined {
  if (text[4] !== ":") return undefined;
  const found = base64Header.exec(text.slice(0, longestDataUriHeader));
  return found ? { mediaType: found[1]?.toLowerCase() || undefined, length: found[0].length } : undefined;
}

export function isDataUri(text: string): boolean {
  return readDataUriHeader(text) !== undefined;
}

/** Throws if the content is damaged. */
export function decodeDataUri(text: string): { mediaType: string | undefined; bytes: Buffer } | undefined {
  const header = readDataUriHeader(text);
  if (!header) return undefined;
  const decoder = new Base64Decoder();
  const bytes = decoder.push(text.slice(header.length));
  decoder.end();
  return { mediaType: header.mediaType, bytes };
}

function headerOf(file: FileInput): string {
  // Any other type could break out of the JSON string.
  const type = /^[\w.+-]+\/[\w.+-]+$/.test(file.contentType) ? file.contentType : "application/octet-stream";
  return `data:${type};base64,`;
}

export function dataUriLength(file: FileInput): number {
  return headerOf(file).length + 4 * Math.ceil(file.size / 3);
}

/** The file as a data URI in chunks, so that it is never in memory as a whole. */
export async function* encodeDataUri(file: FileInput): AsyncGenerator<string> {
  yield headerOf(file);
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of readExactly(file)) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    const whole = bytes.length - (bytes.length % 3);
    rest = bytes.subarray(whole);
    if (whole > 0) yield bytes.toString("base64", 0, whole);
  }
  if (rest.length > 0) yield rest.toString("base64");
}

/** Throws if the file does not have the length that the request announced. */
export async function* readExactly(file: FileInput): AsyncGenerator<Buffer> {
  const stream: Readable = await file.open();
  let seen = 0;
  for await (const chunk of stream) {
    const bytes: Buffer = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk);
    seen += bytes.length;
    if (seen > file.size) break;
    yield bytes;
  }
  if (seen !== file.size) throw new Error("A stored input file does not have its recorded length");
}

const alphabetEnd = /={1,2}$/;

/** Invalid base64: a foreign character, padding in the middle, or an incomplete group. */
class Base64Error extends Error {
  override name = "Base64Error";
}

/**
 * Decodes base64 that arrives in chunks. Node's decoder skips invalid characters, so a damaged text would silently become
 * a damaged file; this one checks every group of four. White space is allowed.
 */
export class Base64Decoder {
  #rest = "";
  #padded = false;

  push(chunk: string): Buffer {
    const text = this.#rest + (/\s/.test(chunk) ? chunk.replace(/\s+/g, "") : chunk);
    const whole = text.length - (text.length % 4);
    this.#rest = text.slice(whole);
    if (whole === 0) return Buffer.alloc(0);
    if (this.#padded) throw new Base64Error("The base64 text continues after its padding");
    const groups = text.slice(0, whole);
    const padding = alphabetEnd.exec(groups)?.[0].length ?? 0;
    this.#padded = padding > 0;
    const bytes = Buffer.from(groups, "base64");
    if (bytes.length !== (whole / 4) * 3 - padding) throw new Base64Error("The text is not base64");
    return bytes;
  }

  /** Throws if the text was cut. */
  end(): void {
    if (this.#rest !== "") throw new Base64Error("The base64 text ends in the middle of a group");
  }
}
