import { expect, test } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { beat } from "./store.ts";

const marks = { keyProof: "proof", fileStore: "s3://gantry" };

test("a node that was considered dead returns with its marks", async () => {
  const { database, drop } = await testDatabase();
  await beat(database.sql, "node_a", marks);
  await database.sql`delete from nodes`;
  await beat(database.sql, "node_a", marks);
  const found = await database.sql`select id, key_proof as "keyProof", file_store as "fileStore" from nodes`;
  expect(found).toEqual([{ id: "node_a", ...marks }]);
  await drop();
});
