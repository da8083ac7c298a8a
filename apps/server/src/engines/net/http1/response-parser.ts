import { NetError, type NetHeaders } from "../net.ts";
import { readHead } from "./response-head.ts";

/** Who is told what an answer says. `chunk` is a view of the connection's read buffer: gone after the call. */
export interface ResponseSink {
  onHead(status: number, headers: NetHeaders): void;
  onBody(chunk: Buffer): void;
  onEnd(): void;
}

const headEnd = "\r\n\r\n";
const cr = 0x0d;
const lf = 0x0a;
const semicolon = 0x3b;
/** Of the size of a chunk: more than any body that is let through. */
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
 * Reads answers of HTTP/1.1, however the bytes are cut into pieces. Strict: what RFC 9112 forbids or only tolerates is an
 * error, since a reader that guesses can be made to take one answer's body for the next answer.
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
  #noBody = false;
  #kept: Buffer | undefined;
  #left = 0;
  #digits = 0;
  /** Bytes that belong to no body and are counted by no other bound: hints, extensions of chunks, trailers. */
  #held = 0;
  /** Where in the buffer the body lies that was read and not yet handed over. */
  #bodyFrom = 0;
  #bodyTo = 0;
  #reusable = false;
  /** How long the server keeps an idle connection, where it says so. */
  keepAliveMs: number | undefined;

  constructor(sink: ResponseSink, maxHeadBytes: number) {
    this.#sink = sink;
    this.#maxHeadBytes = maxHeadBytes;
  }

  /** The next bytes are an answer; one to HEAD has no body whatever its headers say. */
  begin(method: string): void {
    this.#state = "head";
    this.#noBody = method === "HEAD";
    this.#kept = undefined;
    this.#held = 0;
    this.#reusable = false;
  }

  /** Nothing more is told, also of the bytes that are being read. */
  stop(): void {
    this.#state = "idle";
  }

  /** True when the last answer is whole and nothing was said against another one on this connection. */
  get reusable(): boolean {
    return this.#reusable && this.#state === "done";
  }

  /** The first `end` bytes of the buffer, which it may change. */
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
          // Bytes that nobody asked for. Whatever they are, no answer to the next request.
          this.#reusable = false;
          return;
      }
    }
  }

  /** The server has closed its side. Throws unless the answer is whole. */
  close(): void {
    if (this.#state === "until-close") this.#end(0);
    else if (this.#state !== "done" && this.#state !== "idle") throw broken("The server broke off its answer");
  }

  /**
   * What chunks carry is moved together over the sizes between them and handed over as one: a server that sends every
   * token as a chunk sends many of them at once when it is fast.
   */
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

  /** What the sink does may have stopped it. */
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
    if (head.status === 101) throw broken("The server switched to a protocol that it was not asked for");
    // Early hints and the like come before the answer and are none.
    if (head.status < 200) {
      this.#hold(text.length);
      return;
    }
    this.keepAliveMs = head.keepAliveMs;
    const bodyless = this.#noBody || head.status === 204 || head.status === 304;
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
        if (this.#digits > mostSizeDigits) throw broken("The server sent a chunk of an impossible size");
        this.#left = this.#left * 16 + digit;
        continue;
      }
      if (this.#digits === 0 || (code !== cr && code !== semicolon)) throw broken("The server sent no size of a chunk");
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
      if (buffer[at] === lf) throw broken("The server sent no size of a chunk");
      this.#hold(1);
    }
    return end;
  }

  /** Read to the empty line and forgotten. */
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
  if (code !== wanted) throw broken("The server's chunks are not as long as it says");
}

/** -1 for what is none. */
function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

function broken(what: string): NetError {
  return new NetError("cut", what);
}
