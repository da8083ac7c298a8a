import { beforeAll, beforeEach, expect, test } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import type { Database } from "../../engines/database/database.ts";
import { createLog } from "../../kernel/log.ts";
import { join } from "./join.ts";

let database: Database;
let logged = "";
const log = createLog("warn", {
  write: (line: string) => {
    logged += line;
  },
});

beforeAll(async () => {
  const made = await testDatabase();
  database = made.database;
  return () => made.drop();
});
beforeEach(async () => {
  logged = "";
  await database.sql`delete from nodes`;
});

const enter = (nodeId: string, fileStore: string, key = "ours") =>
  join({ database, log, nodeId, proofOf: (id) => `${key}:${id}`, fileStore });
const nodes = async () => (await database.sql<{ id: string }[]>`select id from nodes order by id`).map(({ id }) => id);

test("a node with another secret key is refused and leaves no row", async () => {
  await enter("node_a", "s3://gantry");
  await enter("node_b", "s3://gantry");
  await expect(enter("node_c", "s3://gantry", "another")).rejects.toThrow(/another secret key.*GANTRY_SECRET_KEY/);
  expect(await nodes()).toEqual(["node_a", "node_b"]);
});

test("a node with another file store is refused and leaves no row", async () => {
  await enter("node_a", "s3://gantry");
  await enter("node_b", "s3://gantry");
  const message = /stores files in s3:\/\/gantry; this one would use its GANTRY_HOME.*S3_ENDPOINT/;
  await expect(enter("node_c", "folder:one")).rejects.toThrow(message);
  await expect(enter("node_c", "s3://other")).rejects.toThrow("this one would use s3://other");
  expect([await nodes(), logged]).toEqual([["node_a", "node_b"], ""]);
});

test("nodes with separate folders are warned, nodes that share one are not", async () => {
  await enter("node_a", "folder:one");
  await enter("node_b", "folder:one");
  expect(logged).toBe("");
  await enter("node_c", "folder:two");
  expect(logged).toContain("its own GANTRY_HOME");
  await expect(enter("node_d", "s3://gantry")).rejects.toThrow("stores files in its GANTRY_HOME");
});

test("dead nodes and nodes without marks are ignored", async () => {
  await enter("node_a", "s3://gantry");
  await database.sql`update nodes set heartbeat_at = now() - interval '11 seconds'`;
  await database.sql`insert into nodes (id) values ('node_before')`;
  await enter("node_b", "s3://moved", "another");
  expect(logged).toBe("");
  await expect(enter("node_c", "s3://moved")).rejects.toThrow("another secret key");
});
