import { isUtf8 } from "node:buffer";
import { fault } from "../../kernel/errors.ts";
import { nulText } from "../foundation/unstorable-text.rules.ts";
import { FilePart } from "./file-part.ts";
import type { MultipartEntry, MultipartLimits, OnFile } from "./form.ts";
import type { PartHeaders } from "./part-headers.ts";
import type { Scanner } from "./scanner.ts";

/** Turns scanner events into entries: bounded texts, and files passed on one after the other. */
export class FormCollector<T> {
  readonly entries: MultipartEntry<T>[] = [];
  readonly #scanner: Scanner;
  readonly #limits: MultipartLimits;
  readonly #onFile: OnFile<T>;
  readonly #isStreaming: boolean;
  readonly #counts = { fields: 0, files: 0 };
  #headers: PartHeaders | undefined;
  #gathered: Buffer[] = [];
  #length = 0;
  #streamed: FilePart<T> | undefined;

  constructor(scanner: Scanner, options: { limits: MultipartLimits; onFile: OnFile<T>; isStreaming: boolean }) {
    this.#scanner = scanner;
    this.#limits = options.limits;
    this.#onFile = options.onFile;
    this.#isStreaming = options.isStreaming;
  }

  /** Processes all events of the scanner. Returns what to wait for if the receiver of a file is busy. */
  advance(): Promise<void> | undefined {
    for (let event = this.#scanner.next(); event !== undefined; event = this.#scanner.next()) {
      let waiting: Promise<void> | undefined;
      if (event.type === "part") this.#begin(event.headers);
      else if (event.type === "data" && this.#headers) waiting = this.#add(this.#headers, event.chunk);
      else if (event.type === "part-end" && this.#headers) waiting = this.#end(this.#headers);
      if (waiting) return waiting;
    }
    return undefined;
  }

  /** Fails the receiver of a file that cannot become complete. */
  interrupt(error: unknown): void {
    this.#streamed?.interrupt(error);
  }

  /** As `interrupt`, and waits until the receiver has cleaned up. */
  async cancel(error: unknown): Promise<void> {
    await this.#streamed?.cancel(error);
  }

  #begin(headers: PartHeaders): void {
    this.#headers = headers;
    this.#gathered = [];
    this.#length = 0;
    countPart(headers, this.#counts, this.#limits);
  }

  #add(headers: PartHeaders, chunk: Buffer): Promise<void> | undefined {
    if (headers.isFile && this.#isStreaming) {
      this.#streamed ??= new FilePart(fileOf(headers), this.#onFile);
      return this.#streamed.feed(chunk);
    }
    this.#length += chunk.length;
    const { maxFieldBytes } = this.#limits;
    if (!headers.isFile && this.#length > maxFieldBytes) throw tooLong(headers.name, maxFieldBytes);
    this.#gathered.push(chunk);
    return undefined;
  }

  #end(headers: PartHeaders): Promise<void> | undefined {
    if (this.#streamed) return this.#keep(headers, this.#streamed.finish());
    const bytes = joined(this.#gathered);
    if (headers.isFile && (bytes.length > 0 || headers.filename)) {
      return this.#keep(headers, this.#onFile({ ...fileOf(headers), body: bytes }));
    }
    // Browsers send an empty file input as a file without a name and bytes.
    this.entries.push({ name: headers.name, value: textOf(bytes, headers) });
    return undefined;
  }

  async #keep(headers: PartHeaders, received: Promise<T>): Promise<void> {
    const { name, filename } = fileOf(headers);
    this.entries.push({ name, file: await received, filename });
    this.#streamed = undefined;
  }
}

function countPart({ isFile }: PartHeaders, counts: { fields: number; files: number }, limits: MultipartLimits): void {
  const what = isFile ? "files" : "fields";
  const max = isFile ? limits.maxFiles : limits.maxFields;
  if (++counts[what] <= max) return;
  throw fault("too_many_fields", `The body has more than ${max} ${what}`, { ctx: { max_fields: max } });
}

function tooLong(name: string, max: number) {
  const options = { loc: ["body", name], ctx: { max_length: max } };
  return fault("string_too_long", `The field is longer than ${max} bytes`, options);
}

function joined(chunks: Buffer[]): Buffer {
  const [only] = chunks;
  return chunks.length === 1 && only ? only : Buffer.concat(chunks);
}

function fileOf({ name, filename, contentType }: PartHeaders) {
  return { name, filename: filename === "" ? undefined : filename, contentType };
}

function textOf(bytes: Buffer, headers: PartHeaders): string {
  const text = decoded(bytes, headers);
  if (text.includes("\0")) throw fault("string_type", nulText, { loc: ["body", headers.name] });
  return text;
}

function decoded(bytes: Buffer, { name, charset }: PartHeaders): string {
  const wrong = (msg: string) => fault("string_type", msg, { loc: ["body", name] });
  if (charset !== undefined && charset !== "utf-8" && charset !== "utf8") {
    try {
      return new TextDecoder(charset, { fatal: true }).decode(bytes);
    } catch {
      throw wrong(`The field is not text in the character set ${charset.slice(0, 40)}`);
    }
  }
  const text = bytes.toString("utf8");
  // A replacement character is either literal or stands for invalid UTF-8.
  if (text.includes("\ufffd") && !isUtf8(bytes)) throw wrong("The field is not valid UTF-8");
  return text;
}
