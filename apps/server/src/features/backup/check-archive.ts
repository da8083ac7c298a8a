import type { z } from "zod";
import { type BackupEnd, type BackupHead, endSchema, headSchema } from "./backup.ts";
import { readTar } from "./tar.ts";

/** Reads an archive once from end to end, before anything is changed: is it one of ours, whole and undamaged? */
export async function checkArchive(
  open: () => AsyncIterable<Uint8Array>,
): Promise<{ head: BackupHead; end: BackupEnd; keys: string[] }> {
  let head: BackupHead | undefined;
  let end: BackupEnd | undefined;
  const keys: string[] = [];
  let sha256 = "";
  for await (const { name, body, sha256Before } of readTar(open())) {
    if (!head && name !== "backup.json") throw new Error("This archive is no backup of Gantry");
    if (name === "backup.json") head = parse(headSchema, name, await contentOf(body));
    if (name.startsWith("keys/")) keys.push(name.slice(5));
    if (name !== "end.json") continue;
    sha256 = sha256Before();
    end = parse(endSchema, name, await contentOf(body));
  }
  if (!head || !end) throw new Error("The backup is not whole: it was interrupted while it was written");
  if (sha256 !== end.sha256) throw new Error("The backup is damaged: its bytes do not match its checksum");
  return { head, end, keys };
}

export async function contentOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  return Buffer.concat(await Array.fromAsync(body)).toString();
}

export function parse<T>(schema: z.ZodType<T>, name: string, text: string): T {
  const result = schema.safeParse(JSON.parse(text));
  if (result.success) return result.data;
  throw new Error(`This Gantry does not understand ${name} of the backup; was it made by a newer one?`);
}
