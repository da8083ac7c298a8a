import { link, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import type { Database } from "../engines/database/index.ts";
import { lockKeys } from "../engines/vault/change-key.ts";
import { syncFolder } from "../engines/vault/key-file.ts";
import { hasTakenPlace, type KeyFile } from "../features/backup/index.ts";

/** Without these files, stored credentials cannot be decrypted and links to files are invalid. */
export const keyFiles = ["secret-key", "link-signing-key.json"] as const;

export async function readKeyFiles(home: string): Promise<KeyFile[]> {
  const files: KeyFile[] = [];
  for (const name of keyFiles) {
    const content = await readFile(join(home, name)).catch(() => undefined);
    if (content) files.push({ name, content });
  }
  return files;
}

/** Keys of the backup that differ from those in use. Throws if one may not be replaced. */
export async function keysToRestore(
  { GANTRY_HOME: home, GANTRY_SECRET_KEY: given }: Config,
  ofBackup: readonly KeyFile[],
  replace: boolean,
): Promise<KeyFile[]> {
  const present = new Map((await readKeyFiles(home)).map(({ name, content }) => [name, textOf(content)]));
  if (given !== undefined) present.set("secret-key", given);
  return ofBackup.filter(({ name, content }) => {
    if (!keyFiles.some((one) => one === name)) throw new Error(`The backup contains an unknown key file: ${name}`);
    const has = present.get(name);
    if (has === textOf(content)) return false;
    if (name === "secret-key" && given !== undefined) {
      throw new Error("GANTRY_SECRET_KEY differs from the key that encrypted the credentials in the backup");
    }
    if (has !== undefined && !replace) {
      throw new Error(`${join(home, name)} differs from the key in the backup. Use --replace to replace it.`);
    }
    return true;
  });
}

const deadlineMs = 60_000;

const textOf = (content: Uint8Array): string => Buffer.from(content).toString().trim();

const folderOf = (home: string, restoreId: string): string => join(home, `restore-${restoreId}`);

/** Writes the keys to disk beside those in use. */
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
 * The database and the key files cannot change in one step. The keys of a restore are written before its commit and moved
 * into place after it. The database says whether the commit happened, also at the next start:
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
      // The transaction of a killed process may still be open.
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

/** Completes or undoes an interrupted restore, before any key is loaded. */
export async function settleRestores(where: { database: Database; home: string }): Promise<void> {
  for (const name of await readdir(where.home).catch(() => [])) {
    const restoreId = /^restore-([\w-]+)$/.exec(name)?.[1];
    if (restoreId !== undefined) await settleRestore(where, restoreId);
  }
}

/** Safe to interrupt and repeat. */
async function takePlace(home: string, restoreId: string, name: string): Promise<void> {
  const present = join(home, name);
  await link(present, `${present}.before-restore-${restoreId}`).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT" && error.code !== "EEXIST") throw error;
  });
  await rename(join(folderOf(home, restoreId), name), present);
  await syncFolder(home);
}
