import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { createAesVault } from "./aes-vault.ts";
import { opensNothing } from "./reseal.ts";

const [ours, another] = [randomBytes(32), randomBytes(32)];

test("a key that opens nothing of what is sealed is known as such", async () => {
  const { database, drop } = await testDatabase();
  const opens = (key: Uint8Array) => database.transaction((tx) => opensNothing(tx, createAesVault(key)));
  expect([await opens(ours), await opens(another)]).toEqual([false, false]);
  const sealed = createAesVault(ours).seal("x", "webhook-secret:usr_1:1") as Buffer;
  await database.sql`
    insert into users (id, username, role, plan, created_at) values ('usr_1', 'una', 'user', 'free', now())`;
  await database.sql`
    insert into webhook_secrets (user_id, number, sealed, created_at) values ('usr_1', 1, ${sealed}, now())`;
  expect([await opens(ours), await opens(another)]).toEqual([false, true]);
  await drop();
});
