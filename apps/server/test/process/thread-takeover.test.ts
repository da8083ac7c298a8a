import { afterAll, beforeAll, expect, test } from "vitest";
import { verifyLedger } from "../../src/features/billing/index.ts";
import { call, putModel, textModel } from "../proof/client.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { testDatabase } from "../support/database.ts";
import { type LlmAnswer, type ScriptedLlm, startScriptedLlm } from "../support/scripted-llm.ts";
import { waitFor } from "../support/wait-for.ts";

/** The node that works on a turn of a thread is killed, twice, while the next turn waits. */
let own: Awaited<ReturnType<typeof testDatabase>>;
let llm: ScriptedLlm;
let cluster: Cluster;
const takeoverMs = 60_000;

beforeAll(async () => {
  [own, llm] = await Promise.all([testDatabase(), startScriptedLlm()]);
  const nodes = { reader: { GANTRY_ROLE: "api" }, one: { GANTRY_ROLE: "worker" }, two: { GANTRY_ROLE: "worker" } };
  cluster = await startCluster({ databaseUrl: own.url, nodes });
  const backend = { type: "openai-chat", url: llm.url, model: "test" };
  const pricing = { per_million_input_tokens: 10, per_million_output_tokens: 100 };
  await putModel(cluster.node("reader").url, "llm", {
    capacity: 8,
    ...textModel,
    backend,
    pricing,
    context_window: 1000,
  });
  await cluster.node("two").kill();
}, 120_000);

afterAll(async () => {
  await cluster?.close();
  await llm.close();
  await own.drop();
}, 60_000);

test("turns keep their order, a stored summary is not repeated, and each call is charged once", async () => {
  const { url } = cluster.node("reader");
  const json = { name: "Writer", goal: "Do {{n}}.", tools: [], model: "admin/llm" };
  const agent = (await call(url, "POST", "/v1/agents", { json })).body.id;
  expect((await call(url, "POST", `/v1/agents/${agent}/publish`, { json: {} })).status).toBe(200);
  const start = async (n: number, more: object = {}): Promise<string> => {
    const body = { input: { n, note: "once upon a time ".repeat(30) }, thread_id: "killed", ...more };
    const made = await call(url, "POST", `/v1/agents/${agent}/runs`, { json: body });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    return made.body.id;
  };

  // `kind` of every call that was answered, in order.
  const answered: string[] = [];
  const usage = { in: 100, out: 20 };
  let hangs = (_kind: string) => false;
  llm.script = ({ messages }): LlmAnswer => {
    const prompt = messages.at(-1)?.content ?? "";
    const kind = prompt.includes("Write down everything") ? "summary" : (/^Do \d/.exec(prompt)?.[0] ?? "?");
    if (hangs(kind)) return { text: "lost ", hangs: true };
    answered.push(kind);
    return { text: kind === "summary" ? "SUMMARY" : `${kind} is done. ${"and so on ".repeat(100)}`, usage };
  };
  const before: string[] = [];
  for (const n of [1, 2, 3]) before.push(await start(n, { wait: 30 }));
  expect(answered).toEqual(["Do 1", "Do 2", "Do 3"]);
  hangs = (kind) => kind === "summary";
  const [killed, waiting] = [await start(4), await start(5)];

  await waitFor("the summary of earlier turns", () => llm.open === 1, takeoverMs);
  await cluster.node("one").kill();
  await waitFor("the end of the call", () => llm.open === 0);
  hangs = (kind) => kind === "Do 4";
  await cluster.node("two").start();
  await waitFor("the call after the summary", () => answered.at(-1) === "summary" && llm.open === 1, takeoverMs);
  expect((await call(url, "GET", `/v1/runs/${waiting}`)).body.status).toBe("pending");
  await cluster.node("two").kill();
  await waitFor("the end of the call", () => llm.open === 0);
  hangs = () => false;
  await cluster.node("one").start();

  const runs = [...before, killed, waiting];
  const records = await Promise.all(runs.map(async (id) => (await call(url, "GET", `/v1/runs/${id}?wait=60`)).body));
  expect(records.map(({ status }) => status)).toEqual(runs.map(() => "done"));
  expect(answered.slice(3, 5)).toEqual(["summary", "Do 4"]);
  expect(answered.at(-1)).toBe("Do 5");
  const last = JSON.stringify(llm.requests.at(-1)?.messages);
  expect(last).toMatch(/SUMMARY/);
  expect(last).not.toMatch(/lost/);

  // 100 × 10 + 20 × 100 millionths for each call that was answered.
  const each = 0.003;
  const costs = records.map(({ cost }) => cost);
  for (const cost of costs.slice(0, 3)) expect(cost).toBeCloseTo(each, 9);
  expect(costs[3]).toBeCloseTo(2 * each, 9);
  expect(costs.reduce((sum, cost) => sum + cost)).toBeCloseTo(answered.length * each, 9);
  const turns = (await call(url, "GET", "/v1/threads/killed")).body.turns;
  expect(turns.map(({ run_id }: { run_id: string }) => run_id)).toEqual(runs);
  const ends = records.map(({ completed_at }) => completed_at);
  expect(ends).toEqual([...ends].sort());
  expect(await verifyLedger(own.database)).toEqual([]);
}, 240_000);
