import { expect, test } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { beat } from "./sweep-store.ts";

test("a node that was taken for dead and forgotten comes back with the proof of its key", async () => {
  const { database, drop } = await testDatabase();
  const proofs = () => database.sql`select id, key_proof as proof from nodes`;
  await beat(database.sql, "node_a", "proof-a");
  await database.sql`delete from nodes`;
  await beat(database.sql, "node_a", "proof-a");
  expect(await proofs()).toEqual([{ id: "node_a", proof: "proof-a" }]);
  await drop();
});
