import { NetError, type NetHeaders } from "../net.ts";
import { broken, readHead } from "./response-head.ts";

/** `chunk` is a view of the connection's read buffer and only valid during the call. */
export interface ResponseSink {
  onHead(status: number, headers: NetHeaders): void;
  onBody(chunk: Buffer): void;
  onEnd(): void;
}

const headEnd = "\r\n\r\n";
const cr = 0x0d;
const lf = 0x0a;
const semicolon = 0x3b;
/** Enough for any allowed body. */
const mostSizeDigits = 12;

type State =
  | "idle"
  | "head"
  | "length"
  | "until-close"
  | "size"
  | "extension"
  | "size-lf"
  | "chunk"
  | "chunk-cr"
  | "chunk-lf"
  | "trailers"
  | "done";

/**
 * Parses HTTP/1.1 answers from chunks of any size. Strict: everything that RFC 9112 forbids or only tolerates is an error,
 * because a lenient parser can be tricked into reading the body of one answer as the next answer.
 *
 *   idle ──begin──► head ⇄ (1xx) ──► length ─────────────────────────────────────────────► done
 *                     ├──────────────► until-close ──close───────────────────────────────► done
 *                     └──► size [─► extension] ─► size-lf ─► chunk ─► chunk-cr ─► chunk-lf ─► size …
 *                                                    └─(0)─► trailers ───────────────────► done
 */
export class ResponseParser {
  readonly #sink: ResponseSink;
  readonly #maxHeadBytes: number;
  #state: State = "idle";
  #isHead = false;
  #kept: Buffer | undefined;
  #left = 0;
  #digits = 0;
  /** Bytes that no other bound counts: hints, chunk extensions, trailers. */
  #held = 0;
  /** Body bytes in the buffer that the sink has not received yet. */
  #bodyFrom = 0;
  #bodyTo = 0;
  #reusable = false;
  /** The server's idle timeout, if announced. */
  keepAliveMs: number | undefined;

  constructor(sink: ResponseSink, maxHeadBytes: number) {
    this.#sink = sink;
    this.#maxHeadBytes = maxHeadBytes;
  }

  /** An answer to HEAD has no body, regardless of its headers. */
  begin(method: string): void {
    this.#state = "head";
    this.#isHead = method === "HEAD";
    this.#kept = undefined;
    this.#held = 0;
    this.#reusable = false;
  }

  /** The sink receives nothing more, even from the current buffer. */
  stop(): void {
    this.#state = "idle";
  }

  /** The last answer is complete and the server allows another one on this connection. */
  get reusable(): boolean {
    return this.#reusable && this.#state === "done";
  }

  /** Reads the first `end` bytes of the buffer, and may change the buffer. */
  read(buffer: Buffer, end: number): void {
    try {
      this.#read(buffer, end);
    } finally {
      this.#handOver(buffer);
    }
  }

  #read(buffer: Buffer, end: number): void {
    let at = 0;
    while (at < end) {
      switch (this.#state) {
        case "chunk":
          at = this.#gather(buffer, at, end);
          break;
        case "length":
          at = this.#readLength(buffer, at, end);
          break;
        case "size":
          at = this.#readSize(buffer, at, end);
          break;
        case "extension":
          at = this.#skipExtension(buffer, at, end);
          break;
        case "size-lf":
          expect(buffer[at], lf);
          at += 1;
          this.#state = this.#left === 0 ? "trailers" : "chunk";
          break;
        case "chunk-cr":
          expect(buffer[at], cr);
          at += 1;
          this.#state = "chunk-lf";
          break;
        case "chunk-lf":
          expect(buffer[at], lf);
          at += 1;
          this.#state = "size";
          this.#digits = 0;
          break;
        case "head":
          at = this.#readHead(buffer, at, end);
          break;
        case "until-close":
          this.#sink.onBody(buffer.subarray(at, end));
          return;
        case "trailers":
          at = this.#readTrailers(buffer, at, end);
          break;
        default:
          // Unexpected bytes must not become the answer to the next request.
          this.#reusable = false;
          return;
      }
    }
  }

  /** The server has closed its side. Throws unless the answer is complete. */
  close(): void {
    if (this.#state === "until-close") this.#end(0);
    else if (this.#state !== "done" && this.#state !== "idle") throw broken("The server's answer is incomplete");
  }

  /** Joins the bodies of several chunks in place. A fast server sends many tokens at once, each in its own chunk. */
  #gather(buffer: Buffer, from: number, end: number): number {
    const to = Math.min(from + this.#left, end);
    if (this.#bodyFrom === this.#bodyTo) this.#bodyFrom = this.#bodyTo = from;
    else buffer.copyWithin(this.#bodyTo, from, to);
    this.#bodyTo += to - from;
    this.#left -= to - from;
    if (this.#left === 0) this.#state = "chunk-cr";
    return to;
  }

  #handOver(buffer: Buffer): void {
    if (this.#bodyFrom === this.#bodyTo) return;
    const chunk = buffer.subarray(this.#bodyFrom, this.#bodyTo);
    this.#bodyFrom = this.#bodyTo = 0;
    if (this.#state !== "idle") this.#sink.onBody(chunk);
  }

  #end(excess: number): void {
    this.#state = "done";
    if (excess > 0) this.#reusable = false;
    this.#sink.onEnd();
  }

  #readLength(buffer: Buffer, from: number, end: number): number {
    const to = Math.min(from + this.#left, end);
    this.#left -= to - from;
    this.#sink.onBody(buffer.subarray(from, to));
    if (this.#left === 0 && this.#isIn("length")) this.#end(end - to);
    return to;
  }

  /** The sink may have stopped the parser. */
  #isIn(state: State): boolean {
    return this.#state === state;
  }

  #readHead(buffer: Buffer, from: number, end: number): number {
    const fresh = buffer.subarray(from, end);
    const bytes = this.#kept ? Buffer.concat([this.#kept, fresh]) : fresh;
    const searchedTo = Math.max(0, (this.#kept?.length ?? 0) - headEnd.length + 1);
    const length = bytes.indexOf(headEnd, searchedTo, "latin1");
    if ((length === -1 ? bytes.length : length) > this.#maxHeadBytes) {
      throw new NetError("too_large", "The server's headers are too long");
    }
    if (length === -1) {
      this.#kept = this.#kept ? bytes : Buffer.from(fresh);
      return end;
    }
    const at = end - (bytes.length - length - headEnd.length);
    this.#kept = undefined;
    this.#takeHead(bytes.toString("latin1", 0, length), end - at);
    return at;
  }

  #takeHead(text: string, following: number): void {
    const head = readHead(text);
    if (head.status === 101) throw broken("The server switched to another protocol without being asked");
    // Early hints and other informational responses precede the answer.
    if (head.status < 200) {
      this.#hold(text.length);
      return;
    }
    this.keepAliveMs = head.keepAliveMs;
    const bodyless = this.#isHead || head.status === 204 || head.status === 304;
    this.#reusable = head.persistent && (bodyless || head.framing !== "until-close");
    this.#state = bodyless ? "length" : head.framing === "chunked" ? "size" : head.framing;
    this.#left = bodyless ? 0 : head.length;
    this.#digits = 0;
    this.#sink.onHead(head.status, head.headers);
    if (this.#left === 0 && this.#isIn("length")) this.#end(following);
  }

  #readSize(buffer: Buffer, from: number, end: number): number {
    if (this.#digits === 0) this.#left = 0;
    for (let at = from; at < end; at++) {
      const code = buffer[at] as number;
      const digit = hexDigit(code);
      if (digit !== -1) {
        this.#digits += 1;
        if (this.#digits > mostSizeDigits) throw broken("The server sent a chunk that is too large");
        this.#left = this.#left * 16 + digit;
        continue;
      }
      if (this.#digits === 0 || (code !== cr && code !== semicolon))
        throw broken("The server sent an invalid chunk size");
      this.#state = code === cr ? "size-lf" : "extension";
      return at + 1;
    }
    return end;
  }

  #skipExtension(buffer: Buffer, from: number, end: number): number {
    for (let at = from; at < end; at++) {
      if (buffer[at] === cr) {
        this.#state = "size-lf";
        return at + 1;
      }
      if (buffer[at] === lf) throw broken("The server sent an invalid chunk size");
      this.#hold(1);
    }
    return end;
  }

  /** Skips to the empty line. */
  #readTrailers(buffer: Buffer, from: number, end: number): number {
    const fresh = buffer.subarray(from, end);
    const bytes = this.#kept ? Buffer.concat([this.#kept, fresh]) : fresh;
    const isEmpty = bytes.length >= 2 && bytes[0] === cr && bytes[1] === lf;
    const found = isEmpty ? 0 : bytes.indexOf(headEnd, 0, "latin1");
    if (found === -1 || bytes.length < 2) {
      this.#hold(fresh.length);
      this.#kept = this.#kept ? bytes : Buffer.from(fresh);
      return end;
    }
    const over = bytes.length - found - (isEmpty ? 2 : headEnd.length);
    this.#kept = undefined;
    this.#handOver(buffer);
    if (this.#isIn("trailers")) this.#end(over);
    return end - over;
  }

  #hold(bytes: number): void {
    this.#held += bytes;
    if (this.#held > this.#maxHeadBytes) throw new NetError("too_large", "The server's headers are too long");
  }
}

function expect(code: number | undefined, wanted: number): void {
  if (code !== wanted) throw broken("The server's chunks do not match their sizes");
}

/** -1 if `code` is not a hex digit. */
function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
