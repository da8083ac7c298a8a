import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { BlobStore } from "../../engines/blobs/blobs.ts";
import { Fault } from "../../kernel/errors.ts";
import { blobSchema } from "./backup.ts";
import { type Archive, parse } from "./check-archive.ts";
import { readTar, type TarEntry } from "./tar.ts";

export interface FileRestore {
  /** Before the rows go: the keys that they speak of. */
  expectLoss(keys: ReadonlySet<string>): void;
  /** The next entry of the archive under `blobs/`. */
  take(entry: TarEntry): Promise<void>;
  /** Once the rows are certain. */
  finish(): Promise<void>;
  /** The rows stay as they were: so do the files. */
  undo(): Promise<void>;
  /** When all is restored: of the keys whose loss was expected, `stillKnown` answers those that the new rows speak of. */
  removeLost(stillKnown: (keys: string[]) => Promise<string[]>): Promise<LostFiles>;
}

/** Files of before that nobody knows any more. */
export interface LostFiles {
  removed: number;
  /** That could not be removed. */
  left: number;
}

const askedTogether = 1000;
const removedTogether = 16;

/**
 * Files cannot be part of the transaction that the rows are restored in. So, until that has ended, nothing that is there
 * is touched:
 *
 *     not there ──► stored at once ──undo──► deleted again
 *     there, the same ──► left alone
 *     there, another ──finish──► replaced
 *     not in the archive, and known only to the rows of before ──removeLost──► deleted
 *
 * What no row ever spoke of is left alone: a bucket may hold more than ours.
 */
export function restoreFiles(store: BlobStore, archive: Archive): FileRestore {
  const fresh: string[] = [];
  const replaced = new Set<string>();
  const lost = new Set<string>();
  let blob: { key: string; content_type: string } | undefined;

  /** Each file is two entries: what it is, then its bytes. */
  async function eachBytes(
    entry: TarEntry,
    work: (key: string, contentType: string) => Promise<unknown>,
  ): Promise<void> {
    if (entry.name.endsWith(".json")) {
      blob = await parse(blobSchema, entry);
      return;
    }
    if (!blob) throw new Error(`The backup does not say whose bytes ${entry.name} are`);
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
        const found = await findStanding(store, key);
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
      // One that stays is a file that nobody knows of.
      for (const key of fresh) await store.delete(key).catch(() => undefined);
    },

    async removeLost(stillKnown) {
      const counts: LostFiles = { removed: 0, left: 0 };
      const keys = [...lost];
      for (let at = 0; at < keys.length; at += askedTogether) {
        const asked = keys.slice(at, at + askedTogether);
        const known = new Set(await stillKnown(asked));
        const doomed = asked.filter((key) => !known.has(key));
        for (let next = 0; next < doomed.length; next += removedTogether) {
          const together = doomed.slice(next, next + removedTogether).map((key) => removeFrom(store, key));
          for (const end of await Promise.all(together)) if (end !== "was not there") counts[end] += 1;
        }
      }
      return counts;
    },
  };
}

async function removeFrom(store: BlobStore, key: string): Promise<keyof LostFiles | "was not there"> {
  try {
    if ((await findStanding(store, key)) === undefined) return "was not there";
    await store.delete(key);
    return "removed";
  } catch {
    return "left";
  }
}

/** A damaged one cannot be read and is no loss. */
async function findStanding(store: BlobStore, key: string) {
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

/** What a store says of an object that it has and cannot read; of a store that is away it says something else. */
export function isDamaged(error: unknown): boolean {
  return error instanceof Error && !(error instanceof Fault) && !("code" in error);
}
