import { type Hash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { fault } from "../../../kernel/errors.ts";
import { freeBuffer } from "../../../kernel/free-buffer.ts";

export interface Spooled {
  source: string | Uint8Array;
  size: number;
  /** Set if the bytes were hashed on their way. */
  sha256?: string | undefined;
  open(): Promise<Readable>;
}

interface TakeOptions {
  /** The spool owns the chunks of a stream, and frees them as soon as they are written. */
  ownsChunks?: boolean;
  hash?: Hash;
}

/** The stream was too long. No file is left. */
export class LongerThanAllowed extends Error {}

const host = hostname().replace(/[^A-Za-z0-9-]/g, "_");
const spoolName = /^in\.([A-Za-z0-9_-]*)\.(\d+)\.[0-9a-f]{24}$/;
const foreignLifeMs = 24 * 3_600_000;

/** The files of one request. They exist until `dispose`. */
export class Spool {
  readonly #dir: string;
  readonly #paths = new Set<string>();

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** A body that is spooled already is returned as it is. */
  async take(body: Uint8Array | Readable | Spooled, maxBytes: number, options: TakeOptions = {}): Promise<Spooled> {
    if (!(body instanceof Uint8Array) && !("source" in body)) return this.#write(body, maxBytes, options);
    const spooled = body instanceof Uint8Array ? this.#inMemory(body, options) : body;
    if (spooled.size > maxBytes) throw new LongerThanAllowed();
    return spooled;
  }

  #inMemory(body: Uint8Array, { hash }: TakeOptions): Spooled {
    hash?.update(body);
    return {
      source: body,
      size: body.length,
      sha256: hexOf(hash),
      open: async () => Readable.from([Buffer.from(body)]),
    };
  }

  async dispose(): Promise<void> {
    const paths = [...this.#paths];
    this.#paths.clear();
    await Promise.all(paths.map((path) => rm(path, { force: true })));
  }

  async #write(body: Readable, maxBytes: number, { ownsChunks = false, hash }: TakeOptions): Promise<Spooled> {
    await mkdir(this.#dir, { recursive: true, mode: 0o700 });
    const path = join(this.#dir, `in.${host}.${process.pid}.${randomBytes(12).toString("hex")}`);
    this.#paths.add(path);
    const file = createWriteStream(path, { flags: "wx", mode: 0o600, highWaterMark: 1_048_576 });
    const written = finished(file);
    written.catch(() => {});
    let size = 0;
    try {
      for await (const chunk of body) {
        size += chunk.length;
        if (size > maxBytes) throw new LongerThanAllowed();
        hash?.update(chunk);
        const onWritten = (error: unknown) => {
          if (ownsChunks && !error) freeBuffer(chunk);
        };
        if (!file.write(chunk, onWritten)) await Promise.race([once(file, "drain"), written]);
      }
      file.end();
      await written;
    } catch (error) {
      body.destroy();
      file.destroy();
      await written.catch(() => {});
      await rm(path, { force: true });
      this.#paths.delete(path);
      throw isFull(error)
        ? fault("storage_full", "The disk is full: the file cannot be received", { cause: error })
        : error;
    }
    return { source: path, size, sha256: hexOf(hash), open: () => openRead(path) };
  }
}

/** A copy, because the caller may go on with the hash. */
function hexOf(hash: Hash | undefined): string | undefined {
  return hash?.copy().digest("hex");
}

async function openRead(path: string): Promise<Readable> {
  const file = await open(path);
  return createReadStream(path, { fd: file });
}

function isFull(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT");
}

/** The folder in which uploads arrive. */
export async function openSpool(home: string): Promise<string> {
  const dir = join(home, "spool");
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await sweepSpool(dir);
  return dir;
}

/**
 * Removes the files of dead processes; called at start. Files of running processes on this machine stay. Files of other
 * machines, whose processes are not visible here, are removed after a day.
 */
export async function sweepSpool(dir: string): Promise<number> {
  const names = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  let removed = 0;
  for (const name of names) {
    const [, owner, pid] = spoolName.exec(name) ?? [];
    if (pid === undefined) continue;
    const path = join(dir, name);
    const isDead = owner === host ? !isLiving(Number(pid)) : await isOlderThan(path, foreignLifeMs);
    if (!isDead) continue;
    await rm(path, { force: true });
    removed++;
  }
  return removed;
}

/** This process has no files yet, so its own pid is that of a predecessor. In a container the pid is always the same. */
function isLiving(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

async function isOlderThan(path: string, ms: number): Promise<boolean> {
  const info = await stat(path).catch(() => undefined);
  return info !== undefined && Date.now() - info.mtimeMs > ms;
}
