import { randomUUID } from "node:crypto";
import { Base64Decoder, readDataUriHeader } from "./data-uri.ts";
import { mostInMemory, Spool } from "./spool.ts";

const quote = 0x22;
const backslash = 0x5c;
/** Longer texts may be files. */
const longText = 32 * 1024;
/** Base64 may contain line breaks; a space means prose. */
const plainBase64 = /^[A-Za-z0-9+/\n]+$/;

/** More than any list of files has. Each file on the disk is an open file. */
const mostFiles = 128;

export interface AnswerLimits {
  spoolFolder: string;
  /** For the JSON without its files. */
  maxTextBytes: number;
  /** For each file. */
  maxFileBytes: number;
  /** Treat a long base64 text as a file even if it is not a data URI. */
  bareBase64: boolean;
}

export interface JsonAnswer {
  value: unknown;
  /** Must be called at the end. Drops the files whose body was not taken. */
  discard(): Promise<void>;
}

/**
 * Reads a JSON answer that may contain files as base64 strings. Files are decoded as they arrive and become `Spool`s in
 * the value, so that memory does not grow with them. Short strings stay strings. The reader tracks only where a string
 * begins and ends:
 *
 *   outside ──"──► short text ──"──► outside
 *                     └─ longer than 32 KB ─► file (decoded, replaced by a mark) or long text ──"──► outside
 */
export async function readJsonAnswer(body: AsyncIterable<Buffer>, limits: AnswerLimits): Promise<JsonAnswer> {
  const reader = new AnswerReader(limits);
  try {
    for await (const chunk of body) await reader.push(chunk);
    return { value: reader.value(), discard: () => reader.discard() };
  } catch (error) {
    await reader.discard();
    throw error;
  }
}

class AnswerReader {
  readonly #limits: AnswerLimits;
  /** Placeholder of a file in the text. The upstream cannot guess it. */
  readonly #mark = `file-${randomUUID()}-`;
  readonly #files: Spool[] = [];
  readonly #text: Uint8Array[] = [];
  #textBytes = 0;
  #state: "outside" | "short" | "long" | "file" = "outside";
  /** The start of the current string, while it may still be a file. */
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #escaped = false;
  #file: FileText | undefined;

  constructor(limits: AnswerLimits) {
    this.#limits = limits;
  }

  async push(chunk: Buffer): Promise<void> {
    let at = 0;
    let slash = -2;
    while (at < chunk.length) {
      if (this.#state === "outside") {
        const begin = chunk.indexOf(quote, at);
        const end = begin < 0 ? chunk.length : begin + 1;
        this.#keep(chunk.subarray(at, end));
        at = end;
        if (begin >= 0) this.#state = "short";
        continue;
      }
      let from = at;
      if (this.#escaped) {
        this.#escaped = false;
        from++;
      }
      let close: number;
      for (;;) {
        close = chunk.indexOf(quote, from);
        // Search again only after passing the last backslash found; -1 means that the chunk has no more.
        if (slash !== -1 && slash < from) slash = chunk.indexOf(backslash, from);
        if (slash === -1 || (close >= 0 && close < slash)) break;
        from = slash + 2;
      }
      if (from > chunk.length) this.#escaped = true;
      const end = close < 0 ? chunk.length : close;
      await this.#take(chunk.subarray(at, end));
      at = end;
      if (close >= 0) {
        await this.#closeText();
        this.#keep(chunk.subarray(at, at + 1));
        at++;
        this.#state = "outside";
      }
    }
  }

  value(): unknown {
    if (this.#state !== "outside") throw new Error("The answer ended within a string");
    const text = Buffer.concat(this.#text).toString("utf8");
    if (this.#files.length === 0) return JSON.parse(text);
    return JSON.parse(text, (_key, part: unknown) => {
      if (typeof part !== "string" || !part.startsWith(this.#mark)) return part;
      return this.#files[Number(part.slice(this.#mark.length))];
    });
  }

  async discard(): Promise<void> {
    for (const file of this.#files) await file.discard();
  }

  async #take(chunk: Uint8Array): Promise<void> {
    if (chunk.length === 0) return;
    if (this.#state === "long") return this.#keep(chunk);
    if (this.#state === "file") return this.#file?.push(chunk);
    this.#pending.push(chunk);
    this.#pendingBytes += chunk.length;
    if (this.#pendingBytes > longText) await this.#decide();
  }

  /** Decides whether a long string is a file. */
  async #decide(): Promise<void> {
    const pending = Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    const beginning = unescaped(pending.toString("latin1", 0, 2048));
    const header = readDataUriHeader(beginning);
    if (header === undefined && !(this.#limits.bareBase64 && plainBase64.test(beginning.slice(0, 1024)))) {
      this.#state = "long";
      this.#keep(pending);
      return;
    }
    const { spoolFolder: folder, maxFileBytes: maxBytes } = this.#limits;
    if (this.#files.length === mostFiles) throw new Error(`The answer has more than ${mostFiles} files`);
    // An answer with many files must not fill the memory.
    const isOnDisk = this.#files.length >= mostInMemory;
    const spool = new Spool({ folder, maxBytes, ...(isOnDisk && { keptInMemory: 0 }) });
    spool.mediaType = header?.mediaType;
    this.#files.push(spool);
    this.#file = new FileText(spool, header?.length ?? 0);
    this.#state = "file";
    await this.#file.push(pending);
  }

  async #closeText(): Promise<void> {
    if (this.#state === "file") {
      await this.#file?.end();
      this.#keep(Buffer.from(`${this.#mark}${this.#files.length - 1}`));
    }
    for (const chunk of this.#pending) this.#keep(chunk);
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#file = undefined;
  }

  #keep(chunk: Uint8Array): void {
    this.#textBytes += chunk.length;
    if (this.#textBytes > this.#limits.maxTextBytes) {
      throw new Error(`The answer is longer than ${this.#limits.maxTextBytes} bytes`);
    }
    if (chunk.length > 0) this.#text.push(chunk);
  }
}

/** Decodes the content of a JSON string into a spool, without the header of the data URI. */
class FileText {
  readonly #spool: Spool;
  readonly #decoder = new Base64Decoder();
  #header: number;
  #rest = "";

  constructor(spool: Spool, headerLength: number) {
    this.#spool = spool;
    this.#header = headerLength;
  }

  async push(chunk: Uint8Array): Promise<void> {
    let text = this.#rest + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString("latin1");
    this.#rest = "";
    if (text.includes("\\")) {
      // An escape that the chunk cuts in two waits for its second half.
      this.#rest = /\\(u[0-9a-f]{0,3})?$/i.exec(text)?.[0] ?? "";
      text = unescaped(text.slice(0, text.length - this.#rest.length));
    }
    if (this.#header > 0) {
      const skipped = Math.min(this.#header, text.length);
      this.#header -= skipped;
      text = text.slice(skipped);
    }
    await this.#spool.write(this.#decoder.push(text));
  }

  async end(): Promise<void> {
    this.#decoder.push(this.#rest);
    this.#decoder.end();
    await this.#spool.end();
  }
}

/** Some servers write / as \/ and + as \u002B, and put line breaks into base64. */
function unescaped(text: string): string {
  return text.replace(/\\(?:u([0-9a-f]{4})|(.))/gis, (_whole, code: string | undefined, letter: string | undefined) => {
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
    return letter === "n" || letter === "r" || letter === "t" ? "\n" : (letter ?? "");
  });
}
