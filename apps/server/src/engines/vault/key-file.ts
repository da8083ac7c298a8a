import { randomBytes } from "node:crypto";
import { chmod, link, mkdir, open, readFile, rename, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

const keyLength = 32;

/** The key, the one that it is being changed to, and one that it was not changed to after all. */
export const keyFilesOf = (home: string) => {
  const present = join(home, "secret-key");
  return { present, next: `${present}.new`, abandoned: `${present}.abandoned` };
};

export const newSecretKey = (): Uint8Array => randomBytes(keyLength);

/** The key of the environment, or the one in a file of mode 600 under the home, made at the first start. */
export async function loadSecretKey(home: string, given: string | undefined): Promise<Uint8Array> {
  const existing = await findSecretKey(home, given);
  if (existing) return existing;
  const path = keyFilesOf(home).present;
  await mkdir(home, { recursive: true, mode: 0o700 });
  await writeKey(path, newSecretKey()).catch((error: NodeJS.ErrnoException) => {
    // Of two processes that start together one wins, and both use its key.
    if (error.code !== "EEXIST") throw error;
  });
  const made = await readKey(path);
  if (!made) throw new Error(`${path} could not be written`);
  return made;
}

/** The same, where there is one. */
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
  if (key.length !== keyLength) throw new Error(`${path} holds no secret key; without it stored credentials are lost`);
  await chmod(path, 0o600);
  return key;
}

/** Into a file that is not there yet, as a whole or not at all; on the disk when it resolves. */
export async function writeKey(path: string, key: Uint8Array): Promise<void> {
  const text = `${Buffer.from(key).toString("base64")}\n`;
  const temporary = `${path}.${randomBytes(6).toString("hex")}`;
  await writeFile(temporary, text, { mode: 0o600, flag: "wx", flush: true });
  try {
    // A link does not replace what is there.
    await link(temporary, path);
  } finally {
    await unlink(temporary);
  }
}

/** A name is only as durable as its folder. */
export async function syncFolder(home: string): Promise<void> {
  const folder = await open(home);
  await folder.sync().finally(() => folder.close());
}

export async function moveKey(home: string, from: string, to: string): Promise<void> {
  await rename(from, to);
  await syncFolder(home);
}
