import type { z } from "zod";
import { readTar, type TarEntry } from "../../kernel/tar.ts";
import { type BackupEnd, type BackupHead, endSchema, headSchema, type KeyFile } from "./backup.ts";

/** A complete, undamaged backup. */
export interface Archive {
  head: BackupHead;
  end: BackupEnd;
  keys: KeyFile[];
  /** Opens the archive again from its start. */
  open(): AsyncIterable<Uint8Array>;
}

/** A larger description means that the archive is damaged. */
const largestDescription = 64 * 1024 * 1024;
const largestKey = 64 * 1024;

/** Reads the whole archive once before anything is changed. */
export async function checkArchive(open: Archive["open"]): Promise<Archive> {
  let head: BackupHead | undefined;
  let end: BackupEnd | undefined;
  const keys: KeyFile[] = [];
  let sha256 = "";
  for await (const entry of readTar(open())) {
    const { name } = entry;
    if (!head && name !== "backup.json") throw new Error("This archive is not a backup of Gantry");
    if (name === "backup.json") head = await parse(headSchema, entry);
    if (head?.tables.length === 0) throw new Error("The backup holds no tables: its database was empty");
    if (name.startsWith("keys/")) {
      if (entry.size > largestKey) throw damaged(name);
      keys.push({ name: name.slice(5), content: Buffer.from(await contentOf(entry.body)) });
    }
    if (name !== "end.json") continue;
    sha256 = entry.sha256Before();
    end = await parse(endSchema, entry);
  }
  if (!head || !end) throw new Error("The backup is incomplete: it was interrupted while it was written");
  if (sha256 !== end.sha256) throw new Error("The backup is damaged: its bytes do not match its checksum");
  return { head, end, keys, open };
}

export async function contentOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  return Buffer.concat(await Array.fromAsync(body)).toString();
}

export async function parse<T>(schema: z.ZodType<T>, { name, size, body }: TarEntry): Promise<T> {
  if (size > largestDescription) throw damaged(name);
  const result = schema.safeParse(readJson(name, await contentOf(body)));
  if (result.success) return result.data;
  throw new Error(`This Gantry does not understand ${name} of the backup; was it made by a newer one?`);
}

function readJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw damaged(name);
  }
}

function damaged(name: string): Error {
  return new Error(`The backup is damaged: its entry ${name} cannot be read`);
}
