import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { chmod, link, mkdir, readFile, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Vault } from "./vault.ts";

const version = 1;
const ivLength = 12;
const tagLength = 16;
const keyLength = 32;
const fileName = "secret-key";

/** AES-256-GCM: a version byte, the nonce, the tag, the text. The context is authenticated, not stored. */
export function createAesVault(key: Uint8Array): Vault {
  if (key.length !== keyLength) throw new Error(`a secret key has ${keyLength} bytes`);
  return {
    seal(plain, context) {
      const iv = randomBytes(ivLength);
      const cipher = createCipheriv("aes-256-gcm", key, iv);
      cipher.setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()]);
      return Buffer.concat([Buffer.of(version), iv, cipher.getAuthTag(), body]);
    },
    open(sealed, context) {
      const bytes = Buffer.from(sealed);
      if (bytes[0] !== version) throw new Error("a sealed text of an unknown version");
      const tagAt = 1 + ivLength;
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(1, tagAt));
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(bytes.subarray(tagAt, tagAt + tagLength));
      return Buffer.concat([decipher.update(bytes.subarray(tagAt + tagLength)), decipher.final()]).toString("utf8");
    },
  };
}

/** The key of the environment, or the one in a file of mode 600 under the home, made at the first start. */
export async function loadSecretKey(home: string, given: string | undefined): Promise<Uint8Array> {
  if (given !== undefined) return Buffer.from(given, "base64");
  const path = join(home, fileName);
  const existing = await readKey(path);
  if (existing) return existing;
  await mkdir(home, { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomBytes(6).toString("hex")}`;
  await writeFile(temporary, `${randomBytes(keyLength).toString("base64")}\n`, {
    mode: 0o600,
    flag: "wx",
    flush: true,
  });
  try {
    // A link does not replace: of two processes that start together one wins, and both use its key.
    await link(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    await unlink(temporary);
  }
  const made = await readKey(path);
  if (!made) throw new Error(`${path} could not be written`);
  return made;
}

async function readKey(path: string): Promise<Uint8Array | undefined> {
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
