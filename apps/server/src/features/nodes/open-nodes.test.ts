import { beforeAll, beforeEach, expect, test } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { waitFor } from "../../../test/support/wait-for.ts";
import type { Database } from "../../engines/database/database.ts";
import { createLog } from "../../kernel/log.ts";
import { type Gone, type Nodes, openNodes } from "./open-nodes.ts";
import { countAlive } from "./store.ts";

let database: Database;

beforeAll(async () => {
  const made = await testDatabase();
  database = made.database;
  return () => made.drop();
});
beforeEach(async () => {
  await database.sql`delete from nodes`;
});

const open = (isAlone = false): Promise<Nodes> =>
  openNodes({
    database,
    log: createLog("silent"),
    nodeId: "node_own",
    proofOf: () => "proof",
    fileStore: "s3://gantry",
    isAlone,
  });
/** Which of these nodes are gone. */
const goneAmong = async (gone: Gone, holders: string[]) => {
  const { sql } = database;
  const rows = await sql<{ id: string }[]>`
    select h.id from unnest(${holders}::text[]) as h (id) where ${gone(sql, sql`h.id`)} order by 1`;
  return rows.map(({ id }) => id);
};

test("reports unknown nodes at once, silent nodes after heartbeats of its own, and never nodes alive", async () => {
  await database.sql`
    insert into nodes (id, heartbeat_at) values
      ('node_dead', now() - interval '11 seconds'), ('node_alive', now() - interval '1 second')`;
  const nodes = await open();
  const heard: string[][] = [];
  const listening = await nodes.onDead(async (gone) => {
    heard.push(await goneAmong(gone, ["node_alive", "node_dead", "node_own", "node_unknown"]));
  });
  expect(heard).toEqual([["node_unknown"]]);
  await waitFor("the silent node to be dead", () => heard.at(-1)?.includes("node_dead") === true, 20_000);
  expect(heard.at(-1)).toEqual(["node_dead", "node_unknown"]);
  await listening.stop();
  await nodes.leave();
  expect(await database.sql`select 1 from nodes where id = 'node_own'`).toHaveLength(0);
}, 30_000);

test("a listener that fails is called again and does not block others", async () => {
  const nodes = await open();
  let [failed, called] = [0, 0];
  const failing = await nodes.onDead(async () => {
    if (failed++ > 0) throw new Error("expected by the test");
  });
  const other = await nodes.onDead(async () => {
    called++;
  });
  await waitFor("both to be called again", () => failed > 2 && called > 2, 20_000);
  await Promise.all([failing.stop(), other.stop(), nodes.leave()]);
}, 30_000);

test("all other nodes are gone from the start if only one process can exist", async () => {
  await database.sql`insert into nodes (id) values ('node_before')`;
  const nodes = await open(true);
  let heard: string[] = [];
  const listening = await nodes.onDead(async (gone) => {
    heard = await goneAmong(gone, ["node_before", "node_own"]);
  });
  expect([heard, await countAlive(database.sql)]).toEqual([["node_before"], 1]);
  await Promise.all([listening.stop(), nodes.leave()]);
});
