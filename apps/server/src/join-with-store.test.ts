import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { testDatabase } from "../test/support/database.ts";
import type { Database } from "./engines/database/index.ts";
import { joinWithStore, markOfStore } from "./join-with-store.ts";
import { createLog } from "./kernel/log.ts";

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

const enter = async (node: string, mark: string) => {
  await database.sql`insert into nodes (id) values (${node})`;
  await joinWithStore(database, node, mark, log);
};
const nodes = async () => (await database.sql<{ id: string }[]>`select id from nodes order by id`).map(({ id }) => id);

test("nodes on one bucket meet, one with another store is refused and leaves nothing behind", async () => {
  await enter("node_a", "s3://gantry");
  await enter("node_b", "s3://gantry");
  const message = /keeps its files in s3:\/\/gantry, this one would in its GANTRY_HOME.*S3_ENDPOINT/;
  await expect(enter("node_c", "folder:one")).rejects.toThrow(message);
  await expect(enter("node_c", "s3://other")).rejects.toThrow("this one would in s3://other");
  expect([await nodes(), logged]).toEqual([["node_a", "node_b"], ""]);
});

test("nodes with folders of their own are told, those that share one are not", async () => {
  await enter("node_a", "folder:one");
  await enter("node_b", "folder:one");
  expect(logged).toBe("");
  await enter("node_c", "folder:two");
  expect(logged).toContain("GANTRY_HOME of its own");
  await expect(enter("node_d", "s3://gantry")).rejects.toThrow("keeps its files in its GANTRY_HOME");
});

test("those that are dead, or of the release before, do not count", async () => {
  await enter("node_a", "s3://gantry");
  await database.sql`update nodes set heartbeat_at = now() - interval '1 minute'`;
  await database.sql`insert into nodes (id) values ('node_before')`;
  await enter("node_b", "s3://moved");
  expect(logged).toBe("");
});

test("a folder is known by its home, a bucket by its name", async () => {
  const [one, two] = await Promise.all([1, 2].map(() => mkdtemp(join(tmpdir(), "store-marks-"))));
  const ofHome = (home = "") => markOfStore({ GANTRY_HOME: home, S3_ENDPOINT: undefined, S3_BUCKET: undefined });
  const marks = [await ofHome(one), await ofHome(one), await ofHome(two)];
  expect(marks[0]).toMatch(/^folder:\w+$/);
  expect([marks[0] === marks[1], marks[0] === marks[2]]).toEqual([true, false]);
  const bucket = { GANTRY_HOME: "", S3_BUCKET: "gantry" };
  const [near, far] = ["http://s3:9000", "https://s3.example"].map((S3_ENDPOINT) =>
    markOfStore({ ...bucket, S3_ENDPOINT }),
  );
  expect([await near, await far]).toEqual(["s3://gantry", "s3://gantry"]);
  await Promise.all([one, two].map((home = "") => rm(home, { recursive: true })));
});
