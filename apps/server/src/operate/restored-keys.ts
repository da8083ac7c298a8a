import { link, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import type { Database } from "../engines/database/index.ts";
import { lockKeys } from "../engines/vault/change-key.ts";
import { syncFolder } from "../engines/vault/key-file.ts";
import { hasTakenPlace, type KeyFile } from "../features/backup/index.ts";

/** The files of a home without which what is stored, or the links to it, cannot be opened. */
export const keyFiles = ["secret-key", "link-signing-key.json"] as const;

export async function readKeyFiles(home: string): Promise<KeyFile[]> {
  const files: KeyFile[] = [];
  for (const name of keyFiles) {
    const content = await readFile(join(home, name)).catch(() => undefined);
    if (content) files.push({ name, content });
  }
  return files;
}

/** Those of a backup's keys that are not in use here already; throws where one may not be replaced. */
export async function keysToRestore(
  { GANTRY_HOME: home, GANTRY_SECRET_KEY: given }: Config,
  ofBackup: readonly KeyFile[],
  replace: boolean,
): Promise<KeyFile[]> {
  const present = new Map((await readKeyFiles(home)).map(({ name, content }) => [name, textOf(content)]));
  if (given !== undefined) present.set("secret-key", given);
  return ofBackup.filter(({ name, content }) => {
    if (!keyFiles.some((one) => one === name))
      throw new Error(`The backup holds a key file that is not known: ${name}`);
    const has = present.get(name);
    if (has === textOf(content)) return false;
    if (name === "secret-key" && given !== undefined) {
      throw new Error("GANTRY_SECRET_KEY is another key than the one that sealed the credentials in the backup");
    }
    if (has !== undefined && !replace) {
      throw new Error(`${join(home, name)} is another key than the backup's: say --replace to put that in its place`);
    }
    return true;
  });
}

const deadlineMs = 60_000;

const textOf = (content: Uint8Array): string => Buffer.from(content).toString().trim();

const folderOf = (home: string, restoreId: string): string => join(home, `restore-${restoreId}`);

/** On the disk when it resolves, beside the keys that are in use. */
export async function prepareKeys(home: string, restoreId: string, keys: readonly KeyFile[]): Promise<void> {
  if (keys.length === 0) return;
  const folder = folderOf(home, restoreId);
  await mkdir(folder, { mode: 0o700 });
  for (const { name, content } of keys) {
    await writeFile(join(folder, name), content, { mode: 0o600, flag: "wx", flush: true });
  }
  await syncFolder(folder);
  await syncFolder(home);
}

/**
 * What is sealed and the files of its keys cannot change in the same instant. The keys of a restore are there before its
 * commit, and take their places after it; which of the two it was is asked of the database, at the next start too:
 *
 *     secret-key, restore-ID/secret-key ──commit──► the same ──► secret-key, secret-key.before-restore-ID
 *                                   └─ not committed ──► secret-key
 */
export async function settleRestore(
  where: { database: Database; home: string },
  restoreId: string,
): Promise<"took place" | "did not"> {
  const { database, home } = where;
  const isTrue = await database.transaction(
    async (tx) => {
      // One whose process was killed may still be on its way to its end.
      await lockKeys(tx);
      return hasTakenPlace(tx, restoreId);
    },
    { deadlineMs },
  );
  const folder = folderOf(home, restoreId);
  if (isTrue) for (const name of await readdir(folder).catch(() => [])) await takePlace(home, restoreId, name);
  await rm(folder, { recursive: true, force: true });
  return isTrue ? "took place" : "did not";
}

/** Ends a restore that was cut off, before any key is loaded. */
export async function settleRestores(where: { database: Database; home: string }): Promise<void> {
  for (const name of await readdir(where.home).catch(() => [])) {
    const restoreId = /^restore-([\w-]+)$/.exec(name)?.[1];
    if (restoreId !== undefined) await settleRestore(where, restoreId);
  }
}

/** May be cut off anywhere and be done again. */
async function takePlace(home: string, restoreId: string, name: string): Promise<void> {
  const present = join(home, name);
  await link(present, `${present}.before-restore-${restoreId}`).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT" && error.code !== "EEXIST") throw error;
  });
  await rename(join(folderOf(home, restoreId), name), present);
  await syncFolder(home);
}
