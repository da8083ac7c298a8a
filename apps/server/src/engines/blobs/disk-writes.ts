import { writev } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { addAbortSignal, finished, type Readable } from "node:stream";
import { type Fault, fault } from "../../kernel/errors.ts";
import { freeBuffer } from "../../kernel/free-buffer.ts";
import type { PutOptions } from "./blobs.ts";

/** Large enough to make calls cheap, small enough that a thousand uploads fit in memory. */
const batchBytes = 256 * 1024;
/** Bounds bodies of tiny chunks, each of which costs more than its bytes. */
const batchChunks = 256;

type WriteOptions = Omit<PutOptions, "contentType">;

/** Writes the body and the footer for its length, and returns the length. */
export async function writeBody(
  handle: FileHandle,
  body: Readable | Uint8Array,
  footer: (size: number) => Uint8Array,
  options: WriteOptions,
): Promise<number> {
  const { maxBytes = Number.POSITIVE_INFINITY, signal } = options;
  signal?.throwIfAborted();
  if (body instanceof Uint8Array) {
    if (body.length > maxBytes) throw tooLarge(maxBytes);
    await writeAll(handle, [body, footer(body.length)]);
    return body.length;
  }
  if (signal) addAbortSignal(signal, body);
  const { size, rest } = await writeBatches(handle, body, options);
  await writeAll(handle, [...rest, footer(size)]);
  if (options.ownsChunks) rest.forEach(freeBuffer);
  return size;
}

/**
 * Writes a stream except its last batch. One batch is written while the next is collected, so memory is bounded by two.
 * Uses events because an async iterator costs more per chunk than everything else.
 *
 *     collecting ──full──► collecting, one writing ──full──► paused, one writing
 *         ▲                        │           ▲                          │
 *         └────────written─────────┘           └──────────written─────────┘
 */
async function writeBatches(
  handle: FileHandle,
  body: Readable,
  { maxBytes = Number.POSITIVE_INFINITY, after, ownsChunks = false }: WriteOptions,
): Promise<{ size: number; rest: Uint8Array[] }> {
  let size = 0;
  let batch: Uint8Array[] = [];
  let batchSize = 0;
  let writing: Promise<void> | undefined;
  const isFull = () => batchSize >= batchBytes || batch.length >= batchChunks;

  const reading = Promise.withResolvers<void>();
  let isReading = true;
  const stop = (error?: unknown) => {
    if (!isReading) return;
    isReading = false;
    body.off("data", onData);
    forget();
    if (error === undefined) return reading.resolve();
    body.pause();
    reading.reject(error);
  };
  const forget = finished(body, { writable: false }, (error) => stop(error ?? undefined));
  const onData = (chunk: Uint8Array | string) => {
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    size += bytes.length;
    if (size > maxBytes) return stop(tooLarge(maxBytes));
    batch.push(bytes);
    batchSize += bytes.length;
    if (!isFull()) return;
    if (writing) body.pause();
    else write();
  };
  const write = () => {
    const full = batch;
    batch = [];
    batchSize = 0;
    writing = writeAll(handle, full).then(() => onWritten(full));
    writing.catch(stop);
  };
  const onWritten = (written: Uint8Array[]) => {
    if (ownsChunks) written.forEach(freeBuffer);
    writing = undefined;
    if (!isReading) return;
    if (isFull()) write();
    body.resume();
  };

  body.on("data", onData);
  body.resume();
  after?.catch(stop);
  try {
    await reading.promise;
    await writing;
  } finally {
    // The file must not be closed during a write.
    await writing?.catch(() => {});
  }
  return { size, rest: batch };
}

/** Callbacks, because the promises of a FileHandle cost more than writing a small batch. */
function writeAll({ fd }: FileHandle, buffers: readonly Uint8Array[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const write = (rest: readonly Uint8Array[]) =>
      writev(fd, rest, (error, written) => {
        if (error) return reject(error);
        if (written === rest.reduce((sum, { length }) => sum + length, 0)) return resolve();
        // A nearly full disk accepts a part; the next call reports the error.
        write(withoutFirst(rest, written));
      });
    write(buffers);
  });
}

function withoutFirst(buffers: readonly Uint8Array[], bytes: number): Uint8Array[] {
  let left = bytes;
  return buffers.flatMap((buffer) => {
    const taken = Math.min(left, buffer.length);
    left -= taken;
    return taken === buffer.length ? [] : [buffer.subarray(taken)];
  });
}

export function tooLarge(maxBytes: number): Fault {
  return fault("file_too_large", `The file is larger than ${maxBytes} bytes`, { ctx: { max_size: maxBytes } });
}

export function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}

/** A full disk, quota or file size limit is a fault for the caller; other errors are bugs. */
export function asStorageFault(error: unknown): unknown {
  if (!hasCode(error, "ENOSPC", "EDQUOT", "EFBIG")) return error;
  return fault("storage_full", "There is not enough disk space to store the file", { cause: error });
}

export interface DirectorySync {
  /** Resolves when every earlier rename in the directory is durable. */
  sync(directory: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Makes renames durable. Concurrent calls for a directory share the next fsync; the current one may have begun before
 * their rename. Directories stay open, because opening one costs as much as the fsync itself.
 */
export async function openDirectorySync(directories: readonly string[]): Promise<DirectorySync> {
  const handles = new Map<string, FileHandle>();
  for (const directory of directories) handles.set(directory, await open(directory, "r"));
  const running = new Map<string, { current: Promise<void>; next: Promise<void> | undefined }>();

  const start = async (directory: string): Promise<void> => {
    const current = handles.get(directory)?.sync() ?? Promise.reject(new Error(`${directory} is not open`));
    const entry = { current, next: undefined };
    running.set(directory, entry);
    try {
      await current;
    } finally {
      if (entry.next === undefined) running.delete(directory);
    }
  };

  return {
    sync(directory) {
      const entry = running.get(directory);
      if (!entry) return start(directory);
      const again = () => start(directory);
      entry.next ??= entry.current.then(again, again);
      return entry.next;
    },
    async close() {
      for (const handle of handles.values()) await handle.close();
    },
  };
}

export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, "r");
  await handle.sync().finally(() => handle.close());
}
