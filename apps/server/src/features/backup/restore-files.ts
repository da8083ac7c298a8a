import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { BlobStore } from "../../engines/blobs/blobs.ts";
import { Fault } from "../../kernel/errors.ts";
import { readTar, type TarEntry } from "../../kernel/tar.ts";
import { blobSchema } from "./backup.ts";
import { type Archive, parse } from "./check-archive.ts";

export interface FileRestore {
  /** Keys of the rows that will be replaced. */
  expectLoss(keys: ReadonlySet<string>): void;
  /** Handles the next entry under `blobs/`. */
  take(entry: TarEntry): Promise<void>;
  /** Call after the commit. */
  finish(): Promise<void>;
  /** Call after a rollback. */
  undo(): Promise<void>;
  /** Deletes files of replaced rows. `stillKnown` returns keys that the new rows refer to. */
  removeLost(stillKnown: (keys: string[]) => Promise<string[]>): Promise<LostFiles>;
}

/** Files of replaced rows. */
export interface LostFiles {
  removed: number;
  /** Failed to delete. */
  left: number;
}

const keysAtOnce = 1000;
const deletesAtOnce = 16;

/**
 * Files are not part of the transaction, so existing files are not touched until it has ended:
 *
 *     missing ──► stored at once ──undo──► deleted again
 *     same content ──► unchanged
 *     other content ──finish──► replaced
 *     not in the archive, only in replaced rows ──removeLost──► deleted
 *
 * Files without a row stay: a bucket may contain objects of other programs.
 */
export function restoreFiles(store: BlobStore, archive: Archive): FileRestore {
  const fresh: string[] = [];
  const replaced = new Set<string>();
  const lost = new Set<string>();
  let blob: { key: string; content_type: string } | undefined;

  /** Each file has two entries: description and bytes. */
  async function eachBytes(
    entry: TarEntry,
    work: (key: string, contentType: string) => Promise<unknown>,
  ): Promise<void> {
    if (entry.name.endsWith(".json")) {
      blob = await parse(blobSchema, entry);
      return;
    }
    if (!blob) throw new Error(`The backup does not describe the bytes of ${entry.name}`);
    const { key, content_type: contentType } = blob;
    blob = undefined;
    await work(key, contentType);
  }

  return {
    expectLoss(keys) {
      for (const key of keys) lost.add(key);
    },

    take: (entry) =>
      eachBytes(entry, async (key, contentType) => {
        lost.delete(key);
        const found = await findStored(store, key);
        if (found === "damaged") return store.put(key, Readable.from(entry.body), { contentType });
        if (found === undefined) {
          fresh.push(key);
          return store.put(key, Readable.from(entry.body), { contentType });
        }
        const isSame = found.size === entry.size && found.contentType === contentType;
        if (!isSame || !(await hasBytes(store, key, entry.body))) replaced.add(key);
      }),

    async finish() {
      if (replaced.size === 0) return;
      for await (const entry of readTar(archive.open())) {
        if (!entry.name.startsWith("blobs/")) continue;
        await eachBytes(entry, async (key, contentType) => {
          if (replaced.has(key)) await store.put(key, Readable.from(entry.body), { contentType });
        });
      }
    },

    async undo() {
      // A file that stays has no row.
      for (const key of fresh) await store.delete(key).catch(() => undefined);
    },

    async removeLost(stillKnown) {
      const counts: LostFiles = { removed: 0, left: 0 };
      const keys = [...lost];
      for (let at = 0; at < keys.length; at += keysAtOnce) {
        const asked = keys.slice(at, at + keysAtOnce);
        const known = new Set(await stillKnown(asked));
        const unused = asked.filter((key) => !known.has(key));
        for (let next = 0; next < unused.length; next += deletesAtOnce) {
          const together = unused.slice(next, next + deletesAtOnce).map((key) => removeFrom(store, key));
          for (const end of await Promise.all(together)) if (end !== "was not there") counts[end] += 1;
        }
      }
      return counts;
    },
  };
}

async function removeFrom(store: BlobStore, key: string): Promise<keyof LostFiles | "was not there"> {
  try {
    if ((await findStored(store, key)) === undefined) return "was not there";
    await store.delete(key);
    return "removed";
  } catch {
    return "left";
  }
}

/** A damaged file may be replaced. */
async function findStored(store: BlobStore, key: string) {
  return store.stat(key).catch((error: unknown) => {
    if (isDamaged(error)) return "damaged" as const;
    throw error;
  });
}

async function hasBytes(store: BlobStore, key: string, body: AsyncIterable<Uint8Array>): Promise<boolean> {
  const opened = await store.open(key);
  const there = opened && (await hashOf(opened.body));
  return there === (await hashOf(body));
}

async function hashOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const part of body) hash.update(part);
  return hash.digest("hex");
}

/** The error of an unreadable object, not of an unavailable store. */
export function isDamaged(error: unknown): boolean {
  return error instanceof Error && !(error instanceof Fault) && !("code" in error);
}
