import { randomBytes } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import type { Database } from "../database/database.ts";
import { createAesVault } from "./aes-vault.ts";
import { joinUnderKey, keyProofs } from "./join-under-key.ts";
import { opensNothing } from "./reseal.ts";

let database: Database;
const [ours, another] = [randomBytes(32), randomBytes(32)];
const join = (node: string, key: Uint8Array) => joinUnderKey(database, node, keyProofs(key));

beforeAll(async () => {
  const made = await testDatabase();
  database = made.database;
  return () => made.drop();
});

const nodes = async () => (await database.sql<{ id: string }[]>`select id from nodes order by id`).map(({ id }) => id);

test("nodes with one key meet, one with another is refused and leaves nothing behind", async () => {
  await join("node_a", ours);
  await join("node_b", ours);
  await expect(join("node_c", another)).rejects.toThrow(/another secret key.*GANTRY_SECRET_KEY/);
  expect(await nodes()).toEqual(["node_a", "node_b"]);
  const [row] = await database.sql<{ proof: string }[]>`select key_proof as proof from nodes where id = 'node_a'`;
  expect(row?.proof).toHaveLength(43);
});

test("those that are dead, or of the release before, do not count", async () => {
  await database.sql`update nodes set heartbeat_at = now() - interval '1 minute'`;
  await database.sql`insert into nodes (id) values ('node_before')`;
  await join("node_d", another);
  await expect(join("node_e", ours)).rejects.toThrow("another secret key");
});

test("a key that opens nothing of what is sealed is known as such", async () => {
  const opens = (key: Uint8Array) => database.transaction((tx) => opensNothing(tx, createAesVault(key)));
  expect([await opens(ours), await opens(another)]).toEqual([false, false]);
  const sealed = createAesVault(ours).seal("x", "webhook-secret:usr_1:1") as Buffer;
  await database.sql`
    insert into users (id, username, role, plan, created_at) values ('usr_1', 'una', 'user', 'free', now())`;
  await database.sql`
    insert into webhook_secrets (user_id, number, sealed, created_at) values ('usr_1', 1, ${sealed}, now())`;
  expect([await opens(ours), await opens(another)]).toEqual([false, true]);
});
