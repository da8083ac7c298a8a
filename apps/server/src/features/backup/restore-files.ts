import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { BlobStore } from "../../engines/blobs/blobs.ts";
import { blobSchema } from "./backup.ts";
import { type Archive, parse } from "./check-archive.ts";
import { isDamaged } from "./damaged-file.rules.ts";
import { readTar, type TarEntry } from "./tar.ts";

export interface FileRestore {
  /** The next entry of the archive under `blobs/`. */
  take(entry: TarEntry): Promise<void>;
  /** Once the rows are certain. */
  finish(): Promise<void>;
  /** The rows stay as they were: so do the files. */
  undo(): Promise<void>;
}

/**
 * Files cannot be part of the transaction that the rows are restored in. So, until that has ended, nothing that is there
 * is touched:
 *
 *     not there ──► stored at once ──undo──► deleted again
 *     there, the same ──► left alone
 *     there, another ──finish──► replaced
 */
export function restoreFiles(store: BlobStore, archive: Archive): FileRestore {
  const fresh: string[] = [];
  const replaced = new Set<string>();
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
    take: (entry) =>
      eachBytes(entry, async (key, contentType) => {
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
  };
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
