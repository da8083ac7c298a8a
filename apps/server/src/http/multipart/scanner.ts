import type { MultipartLimits } from "./form.ts";
import { type PartHeaders, parsePartHeaders } from "./part-headers.ts";

export type ScanEvent =
  | { type: "part"; headers: PartHeaders }
  | { type: "data"; chunk: Buffer }
  | { type: "part-end" }
  | { type: "end" };

/** The body is not a multipart form; the message says where it is malformed. */
export class Malformed extends Error {}

const nothing = Buffer.alloc(0);
const headerEnd = Buffer.from("\r\n\r\n");
const partEnd: ScanEvent = { type: "part-end" };
const formEnd: ScanEvent = { type: "end" };
const [cr, lf, dash, space, tab] = [13, 10, 45, 32, 9];

/**
 * Cuts a body into events. Bytes go in by `write`, in pieces of any size; `next` gives the events that follow from them,
 * undefined when it needs more. Where the pieces were cut changes nothing but the size of the `data` events.
 *
 *   preamble ──boundary──► boundary ──CRLF──► headers ──empty line──► body ──boundary──┐
 *                             │  ▲                                                     │
 *                             │  └─────────────────────────────────────────────────────┘
 *                             └──"--"──► epilogue
 *
 * Every state holds a bounded number of bytes: the headers of one part, or less than one boundary.
 */
export class Scanner {
  readonly #limits: MultipartLimits;
  /** CRLF, two dashes, the boundary. The first boundary may lack the CRLF. */
  readonly #delimiter: Buffer;
  #state: "preamble" | "boundary" | "headers" | "body" | "epilogue" = "preamble";
  #bytes: Buffer = nothing;
  #at = 0;
  /** Bytes dropped before the first boundary and after the last. */
  #outside = 0;
  /** The line end before the body may be the beginning of the next boundary. */
  #atBodyStart = false;
  #isDelimiterFound = false;

  constructor(boundary: string, limits: MultipartLimits) {
    this.#limits = limits;
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, "latin1");
  }

  write(chunk: Buffer): void {
    const hasRest = this.#at < this.#bytes.length;
    this.#bytes = hasRest ? Buffer.concat([this.#bytes.subarray(this.#at), chunk]) : chunk;
    this.#at = 0;
  }

  /** Called when no more bytes come. */
  finish(): void {
    if (this.#state !== "epilogue") throw new Malformed("the body ended before its last boundary");
  }

  next(): ScanEvent | undefined {
    switch (this.#state) {
      case "preamble":
        return this.#preamble();
      case "boundary":
        return this.#boundary();
      case "headers":
        return this.#headers();
      case "body":
        return this.#body();
      case "epilogue":
        this.#letGo(this.#bytes.length);
        return undefined;
    }
  }

  #preamble(): ScanEvent | undefined {
    const bare = this.#delimiter.length - 2;
    if (this.#bytes.length - this.#at < bare) return undefined;
    if (this.#outside === 0 && this.#bytes.compare(this.#delimiter, 2, undefined, this.#at, this.#at + bare) === 0) {
      this.#at += bare;
      this.#state = "boundary";
      return this.#boundary();
    }
    const found = this.#bytes.indexOf(this.#delimiter, this.#at);
    if (found === -1) {
      this.#letGo(this.#bytes.length - this.#held());
      return undefined;
    }
    this.#letGo(found);
    this.#at = found + this.#delimiter.length;
    this.#state = "boundary";
    return this.#boundary();
  }

  #boundary(): ScanEvent | undefined {
    if (this.#bytes.length - this.#at < 2) return undefined;
    if (this.#bytes[this.#at] === dash && this.#bytes[this.#at + 1] === dash) {
      this.#at += 2;
      this.#outside = 0;
      this.#state = "epilogue";
      return formEnd;
    }
    let at = this.#at;
    while (this.#bytes[at] === space || this.#bytes[at] === tab) at++;
    if (at - this.#at > this.#limits.maxHeaderBytes) throw new Malformed("a boundary line is too long");
    if (at + 1 >= this.#bytes.length && (at === this.#bytes.length || this.#bytes[at] === cr)) return undefined;
    if (this.#bytes[at] !== cr || this.#bytes[at + 1] !== lf) throw new Malformed("a boundary line does not end");
    this.#at = at;
    this.#state = "headers";
    return this.#headers();
  }

  #headers(): ScanEvent | undefined {
    const end = this.#bytes.indexOf(headerEnd, this.#at);
    const length = (end === -1 ? this.#bytes.length - 3 : end) - this.#at;
    if (length > this.#limits.maxHeaderBytes) throw new Malformed("the headers of a part are too long");
    if (end === -1) return undefined;
    const headers = parsePartHeaders(this.#bytes.toString("utf8", this.#at, end), this.#limits);
    if (typeof headers === "string") throw new Malformed(headers);
    this.#at = end + 2;
    this.#atBodyStart = true;
    this.#state = "body";
    return { type: "part", headers };
  }

  #body(): ScanEvent | undefined {
    if (this.#isDelimiterFound) {
      this.#isDelimiterFound = false;
      this.#at += this.#delimiter.length;
      this.#atBodyStart = false;
      this.#state = "boundary";
      return partEnd;
    }
    const found = this.#bytes.indexOf(this.#delimiter, this.#at);
    const end = found === -1 ? this.#bytes.length - this.#held() : found;
    this.#isDelimiterFound = found !== -1;
    let start = this.#at;
    if (this.#atBodyStart && end > start) {
      start += 2;
      this.#atBodyStart = false;
    }
    this.#at = end;
    if (start < end) {
      const chunk = end - start === this.#bytes.length ? this.#bytes : this.#bytes.subarray(start, end);
      // A piece that is passed on whole is not kept: its receiver may free it.
      if (end === this.#bytes.length) this.#letGoOfAll();
      return { type: "data", chunk };
    }
    return this.#isDelimiterFound ? this.#body() : undefined;
  }

  /** How many of the last bytes may be the beginning of a boundary. */
  #held(): number {
    const end = this.#bytes.length;
    const from = Math.max(this.#at, end - this.#delimiter.length + 1);
    for (let at = this.#bytes.indexOf(cr, from); at !== -1; at = this.#bytes.indexOf(cr, at + 1)) {
      if (this.#bytes.compare(this.#delimiter, 0, end - at, at, end) === 0) return end - at;
    }
    return 0;
  }

  #letGoOfAll(): void {
    this.#bytes = nothing;
    this.#at = 0;
  }

  #letGo(to: number): void {
    this.#outside += to - this.#at;
    this.#at = to;
    if (this.#outside > this.#limits.maxHeaderBytes) {
      throw new Malformed(this.#state === "preamble" ? "the boundary is not found" : "data follows the last boundary");
    }
  }
}
