import { expect, test } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { beat, forgetAllNodes, forgetSilentNodes, listFutureHeartbeats } from "./store.ts";

const marks = { keyProof: "proof", fileStore: "s3://gantry" };

test("a node that was taken for dead and forgotten comes back with what it works with", async () => {
  const { database, drop } = await testDatabase();
  await beat(database.sql, "node_a", marks);
  await database.sql`delete from nodes`;
  await beat(database.sql, "node_a", marks);
  const found = await database.sql`select id, key_proof as "keyProof", file_store as "fileStore" from nodes`;
  expect(found).toEqual([{ id: "node_a", ...marks }]);
  await drop();
});

test("nodes whose heartbeats lie in the future are told from the others, and forgotten unless they have moved", async () => {
  const { database, drop } = await testDatabase();
  const { sql } = database;
  await beat(sql, "node_a", marks);
  await sql`
    insert into nodes (id, heartbeat_at) values ('node_b', now() + interval '1 hour'), ('node_c', now() + interval '1 hour')`;
  const ahead = await listFutureHeartbeats(sql);
  expect(ahead.map(({ nodeId }) => nodeId).sort()).toEqual(["node_b", "node_c"]);
  await beat(sql, "node_c", marks);
  await forgetSilentNodes(sql, ahead);
  const left = async () => (await sql<{ id: string }[]>`select id from nodes order by id`).map(({ id }) => id);
  expect(await left()).toEqual(["node_a", "node_c"]);
  await forgetAllNodes(sql);
  expect(await left()).toEqual([]);
  await drop();
});
