import { randomBytes } from "node:crypto";
import { chmod, link, mkdir, open, readFile, rename, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

const keyLength = 32;

/** `next`: during a key change. `abandoned`: the new key of a change that did not take place. */
export const keyFilesOf = (home: string) => {
  const present = join(home, "secret-key");
  return { present, next: `${present}.new`, abandoned: `${present}.abandoned` };
};

export const newSecretKey = (): Uint8Array => randomBytes(keyLength);

/** The key from the environment, or from a file with mode 600 that the first start creates. */
export async function loadSecretKey(home: string, given: string | undefined): Promise<Uint8Array> {
  const existing = await findSecretKey(home, given);
  if (existing) return existing;
  const path = keyFilesOf(home).present;
  await mkdir(home, { recursive: true, mode: 0o700 });
  await writeKey(path, newSecretKey()).catch((error: NodeJS.ErrnoException) => {
    // Another process created the key at the same time: use its key.
    if (error.code !== "EEXIST") throw error;
  });
  const made = await readKey(path);
  if (!made) throw new Error(`${path} could not be written`);
  return made;
}

/** Like `loadSecretKey`, but creates none. */
export async function findSecretKey(home: string, given: string | undefined): Promise<Uint8Array | undefined> {
  return given === undefined ? readKey(keyFilesOf(home).present) : Buffer.from(given, "base64");
}

export async function readKey(path: string): Promise<Uint8Array | undefined> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const key = Buffer.from(text.trim(), "base64");
  if (key.length !== keyLength)
    throw new Error(`${path} does not contain a secret key. Without the key, stored credentials are lost.`);
  await chmod(path, 0o600);
  return key;
}

/** Atomic and durable. Fails if the file exists. */
export async function writeKey(path: string, key: Uint8Array): Promise<void> {
  const text = `${Buffer.from(key).toString("base64")}\n`;
  const temporary = `${path}.${randomBytes(6).toString("hex")}`;
  await writeFile(temporary, text, { mode: 0o600, flag: "wx", flush: true });
  try {
    // `link` does not replace an existing file.
    await link(temporary, path);
  } finally {
    await unlink(temporary);
  }
}

/** Makes renames in the folder durable. */
export async function syncFolder(home: string): Promise<void> {
  const folder = await open(home);
  await folder.sync().finally(() => folder.close());
}

export async function moveKey(home: string, from: string, to: string): Promise<void> {
  await rename(from, to);
  await syncFolder(home);
}
