import { afterAll, beforeAll, expect, test } from "vitest";
import { call, putModel, textModel } from "../proof/client.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { testDatabase } from "../support/database.ts";
import { type FickleUpstream, startFickleUpstream } from "../support/fickle-upstream.ts";
import { backendAt } from "../support/listed-backends.ts";
import { waitFor } from "../support/wait-for.ts";

/** A process dies while it tests a backend and while it uses the only slot of another one. */
let own: Awaited<ReturnType<typeof testDatabase>>;
let first: FickleUpstream;
let second: FickleUpstream;
let cluster: Cluster;

beforeAll(async () => {
  [own, first, second] = await Promise.all([
    testDatabase(),
    startFickleUpstream({ status: 503 }),
    startFickleUpstream({ text: "second" }),
  ]);
  cluster = await startCluster({ databaseUrl: own.url, nodes: { dying: {}, other: {} } });
}, 120_000);

afterAll(async () => {
  await cluster?.close();
  await Promise.all([first.close(), second.close()]);
  await own.drop();
}, 60_000);

const predict = (node: string, model: string) =>
  call(cluster.node(node).url, "POST", `/api/v1/admin/${model}/predict/stream/`, { form: { prompt: "x" } });

test("neither the circuit nor the slot stays blocked", async () => {
  const { url } = cluster.node("other");
  const backends = [backendAt("first", first), backendAt("second", second, { priority: 1 })];
  await putModel(url, "two", { capacity: 8, ...textModel, backends });
  await putModel(url, "narrow", { capacity: 8, ...textModel, backends: [backendAt("only", first, { capacity: 1 })] });
  for (let n = 0; n < 3; n++) await predict("dying", "two");
  const { sql } = own.database;
  await waitFor("the circuit to open", async () => (await sql`select 1 from backend_circuits`).length === 1);
  first.behaviour = "hang";
  await sql`update backend_circuits set open_until = now()`;
  await sql`select notify_circuit(c) from backend_circuits c`;
  const lost: Promise<unknown>[] = [];
  await waitFor("the probe", async () => {
    lost.push(predict("dying", "two").catch(() => {}));
    await new Promise((resolve) => setTimeout(resolve, 300));
    return (await sql`select 1 from backend_circuits where probe_node is not null`).length === 1;
  });
  lost.push(predict("dying", "narrow").catch(() => {}));
  await waitFor("the slot", async () => (await sql`select 1 from backend_calls`).length === 1);
  await cluster.node("dying").kill();
  await Promise.all(lost);
  first.behaviour = { text: "first" };
  // Waits for the slot until the node is known to be dead.
  expect(JSON.stringify(await predict("other", "narrow"))).toContain("first");
  await waitFor("the next probe", async () => JSON.stringify(await predict("other", "two")).includes("first"), 30_000);
  await waitFor("the circuit to close", async () => (await sql`select 1 from backend_circuits`).length === 0);
  await waitFor("all slots to be free", async () => (await sql`select 1 from backend_calls`).length === 0);
  expect(await sql`select running from backend_slots`).toEqual([{ running: 0 }]);
}, 120_000);
