import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createAesVault, loadSecretKey } from "./aes-vault.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "gantry-vault-"));
});
afterEach(() => rm(home, { recursive: true }));

test("a sealed text opens only with the same key and context", async () => {
  const vault = createAesVault(await loadSecretKey(home, undefined));
  const sealed = vault.seal("sk-très-secret", "secret:usr_1:openai");
  expect(Buffer.from(sealed).toString("latin1")).not.toContain("secret");
  expect(vault.open(sealed, "secret:usr_1:openai")).toBe("sk-très-secret");
  expect(() => vault.open(sealed, "secret:usr_2:openai")).toThrow();
  const other = createAesVault(new Uint8Array(32));
  expect(() => other.open(sealed, "secret:usr_1:openai")).toThrow();
  const damaged = Uint8Array.from(sealed);
  damaged[damaged.length - 1] = (damaged[damaged.length - 1] ?? 0) ^ 1;
  expect(() => vault.open(damaged, "secret:usr_1:openai")).toThrow();
});

test("the same text is sealed differently each time", async () => {
  const vault = createAesVault(await loadSecretKey(home, undefined));
  expect(vault.seal("a", "c")).not.toEqual(vault.seal("a", "c"));
});

test("processes that start together agree on one key, readable only by the owner", async () => {
  const keys = await Promise.all(Array.from({ length: 8 }, () => loadSecretKey(home, undefined)));
  expect(new Set(keys.map((key) => Buffer.from(key).toString("hex"))).size).toBe(1);
  expect((await stat(join(home, "secret-key"))).mode & 0o777).toBe(0o600);
});

test("a damaged key file is reported, not replaced", async () => {
  await writeFile(join(home, "secret-key"), "rubbish");
  await expect(loadSecretKey(home, undefined)).rejects.toThrow("does not contain a secret key");
});

test("the key from the environment wins", async () => {
  const given = Buffer.alloc(32, 7);
  expect(Buffer.from(await loadSecretKey(home, given.toString("base64")))).toEqual(given);
});
