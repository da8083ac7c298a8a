import { randomBytes } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import type { Database } from "../../engines/database/database.ts";
import { createAesVault } from "../../engines/vault/aes-vault.ts";
import { systemClock } from "../../kernel/clock.ts";
import { createSigningSecrets } from "./signing-secrets.ts";

let database: Database;

beforeAll(async () => {
  const made = await testDatabase();
  database = made.database;
  await database.sql`
    insert into users (id, username, role, plan, created_at) values ('usr_1', 'una', 'user', 'free', now())`;
  return () => made.drop();
});

const under = (key: Uint8Array) => createSigningSecrets({ database, vault: createAesVault(key), clock: systemClock });
const secretsOf = async (signing: ReturnType<typeof under>) =>
  signing.open((await signing.liveOf(["usr_1"])).get("usr_1") ?? []);

test("a secret sealed with another key does not disable the others", async () => {
  const [lost, present] = [under(randomBytes(32)), under(randomBytes(32))];
  const [before] = await secretsOf(lost);
  await expect(secretsOf(present)).rejects.toThrow();
  const [again, ...rest] = await present.rotate("usr_1");
  expect(rest).toEqual([]);
  expect(await secretsOf(present)).toEqual([again]);
  expect(await secretsOf(lost)).toEqual([before]);
  expect(await present.rotate("usr_1")).toEqual([expect.stringMatching(/^whsec_/), again]);
});
