import type { TarWriter } from "../../kernel/tar.ts";

/** Tar needs the length of a file before its bytes, so a list is written in files of about this size. */
const mostBytes = 4 * 1024 * 1024;

export interface WrittenList {
  records: number;
  files: string[];
  bytes: number;
}

/** A list of records as JSON Lines. Only the file that is not full yet is in memory. */
export class JsonLines {
  readonly written: WrittenList = { records: 0, files: [], bytes: 0 };
  readonly #tar: TarWriter;
  readonly #name: string;
  #lines: string[] = [];
  #bytes = 0;

  constructor(tar: TarWriter, name: string) {
    this.#tar = tar;
    this.#name = name;
  }

  async add(record: object): Promise<void> {
    const line = `${JSON.stringify(record)}\n`;
    const bytes = Buffer.byteLength(line);
    if (this.#bytes > 0 && this.#bytes + bytes > mostBytes) await this.#flush();
    this.#lines.push(line);
    this.#bytes += bytes;
    this.written.records += 1;
  }

  /** Every list has a file, also an empty one. */
  async end(): Promise<WrittenList> {
    if (this.#bytes > 0 || this.written.files.length === 0) await this.#flush();
    return this.written;
  }

  async #flush(): Promise<void> {
    const { files } = this.written;
    const number = files.length === 0 ? "" : `.${String(files.length + 1).padStart(4, "0")}`;
    const file = `${this.#name}${number}.jsonl`;
    await this.#tar.file(file, Buffer.from(this.#lines.join("")));
    files.push(file);
    this.written.bytes += this.#bytes;
    this.#lines = [];
    this.#bytes = 0;
  }
}
