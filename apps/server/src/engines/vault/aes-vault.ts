import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { Vault } from "./vault.ts";

export { loadSecretKey } from "./key-file.ts";

const version = 1;
const ivLength = 12;
const tagLength = 16;
const keyLength = 32;

/** AES-256-GCM: version byte, nonce, tag, ciphertext. The context is authenticated, not stored. */
export function createAesVault(key: Uint8Array): Vault {
  if (key.length !== keyLength) throw new Error(`a secret key must have ${keyLength} bytes`);
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
      if (bytes[0] !== version) throw new Error("unknown version of a sealed text");
      const tagAt = 1 + ivLength;
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(1, tagAt));
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(bytes.subarray(tagAt, tagAt + tagLength));
      return Buffer.concat([decipher.update(bytes.subarray(tagAt + tagLength)), decipher.final()]).toString("utf8");
    },
  };
}
