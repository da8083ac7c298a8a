import { randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { errorTable } from "@gantry/wire";
import { fault } from "../../../kernel/errors.ts";

/** Most results stay in memory. */
const keptInMemory = 1024 * 1024;
/** Files of one answer that may be in memory as a whole. */
export const mostInMemory = 8;
/** Minimum bytes per write to the disk. */
const bytesPerWrite = 256 * 1024;
/** Enough to detect nearly every type. */
const sampleBytes = 4100;

/**
 * Holds a result outside memory until it is complete, because the usage follows the image. The file is unlinked when it is
 * created, so a crash leaves nothing behind.
 *
 *   filling ──end──► complete ──body (once)──► read to the end or destroyed: the file is gone
 *      └────────────────┴──────discard──────► the file is gone
 */
export class Spool {
  readonly #folder: string;
  readonly #maxBytes: number;
  #kept: Uint8Array[] = [];
  #keptBytes = 0;
  #file: FileHandle | undefined;
  #size = 0;
  #head: Uint8Array = new Uint8Array();
  /** As the upstream declared it. */
  mediaType: string | undefined;

  readonly #keptInMemory: number;

  constructor(options: { folder: string; maxBytes: number; keptInMemory?: number }) {
    this.#folder = options.folder;
    this.#maxBytes = options.maxBytes;
    this.#keptInMemory = options.keptInMemory ?? keptInMemory;
  }

  get size(): number {
    return this.#size;
  }

  /** The first bytes. */
  get head(): Uint8Array {
    return this.#head;
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return;
    this.#size += bytes.length;
    if (this.#size > this.#maxBytes) throw new Error(`A file of the answer is longer than ${this.#maxBytes} bytes`);
    if (this.#head.length < sampleBytes) this.#head = Buffer.concat([this.#head, bytes.subarray(0, sampleBytes)]);
    this.#kept.push(bytes);
    this.#keptBytes += bytes.length;
    if (this.#keptBytes > (this.#file ? bytesPerWrite : this.#keptInMemory)) await this.#flush();
  }

  async end(): Promise<void> {
    if (this.#file) await this.#flush();
  }

  /** Call once, on a complete spool. A stream must be read to its end or destroyed. */
  body(): Readable | Uint8Array {
    if (!this.#file) return Buffer.concat(this.#kept);
    const stream = this.#file.createReadStream({ start: 0, autoClose: true, highWaterMark: 256 * 1024 });
    this.#file = undefined;
    return stream;
  }

  async discard(): Promise<void> {
    this.#kept = [];
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  async #flush(): Promise<void> {
    const bytes = Buffer.concat(this.#kept);
    this.#kept = [];
    this.#keptBytes = 0;
    try {
      this.#file ??= await openUnlinked(this.#folder);
      await this.#file.writeFile(bytes);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      throw fault("storage_full", errorTable.storage_full.meaning, { cause: error });
    }
  }
}

async function openUnlinked(folder: string): Promise<FileHandle> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, `answer-${randomUUID()}`);
  const file = await open(path, "wx+", 0o600);
  await unlink(path);
  return file;
}
