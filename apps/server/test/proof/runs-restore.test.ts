import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openFilesystemBlobs } from "../../src/engines/blobs/filesystem.ts";
import { type Database, migrate } from "../../src/engines/database/index.ts";
import { readMigrations } from "../../src/engines/database/migrate.ts";
import { checkArchive, restoreBackup, writeBackup } from "../../src/features/backup/index.ts";
import { verifyLedger } from "../../src/features/billing/index.ts";
import { startServer } from "../process/server-process.ts";
import { migrationsDir, ownSchema, testDatabase } from "../support/database.ts";
import { type GantryNode, startGantry } from "../support/gantry.ts";
import { type LlmRequest, type ScriptedLlm, startScriptedLlm } from "../support/scripted-llm.ts";
import { waitFor } from "../support/wait-for.ts";
import { call } from "./client.ts";

/** Waiting runs survive their process and their database. */
let llm: ScriptedLlm;
let scratch: string;
const takeOverMs = 40_000;

beforeAll(async () => {
  llm = await startScriptedLlm(say);
  scratch = await mkdtemp(join(tmpdir(), "gantry-restore-"));
});
afterAll(async () => {
  await llm.close();
  await rm(scratch, { recursive: true, force: true });
});

/** The slow agent's first call hangs; the asking agent's tool needs a confirmation. */
let isSlow = true;
function say({ messages }: LlmRequest) {
  const goal = messages[1]?.content ?? "";
  if (messages.some((message) => message.role === "tool")) return { text: "done" };
  if (goal.startsWith("SLOW")) return isSlow ? new Promise<never>(() => {}) : { text: "done" };
  if (goal.startsWith("PARENT")) return { calls: [{ name: "asking", args: {} }] };
  return { calls: [{ name: "run_javascript", args: { code: "6 * 7" } }] };
}

type Caller = (method: string, path: string, json?: object) => Promise<{ status: number; text: string; body: Body }>;
// biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire and states what it must be
type Body = any;

async function prepare(send: Caller): Promise<{ slow: string; asking: string; parent: string }> {
  const text = { type: "string" };
  const must = async (method: string, path: string, json: object) => {
    const answer = await send(method, path, json);
    if (answer.status >= 300) throw new Error(answer.text);
    return answer.body;
  };
  await must("PUT", "/api/v1/admin/llm", {
    title: "A language model",
    kind: "text",
    visibility: "public",
    capacity: 10,
    pricing: { per_million_input_tokens: 10 },
    input: { type: "object", properties: { prompt: text }, required: ["prompt"] },
    output: { type: "object", properties: { output: { ...text, isStream: true } } },
    backend: { type: "openai-chat", url: llm.url, model: "scripted" },
  });
  const publish = async (name: string, tools: object[]) => {
    const { id } = await must("POST", "/v1/agents", { name, goal: name, tools, model: "admin/llm" });
    await must("POST", `/v1/agents/${id}/publish`, {});
    return id as string;
  };
  const asking = await publish("ASKING", [{ type: "tool", id: "run_javascript", confirm: "always" }]);
  return {
    slow: await publish("SLOW", []),
    asking,
    parent: await publish("PARENT", [{ type: "agent", agent_id: asking, name: "asking" }]),
  };
}

const startRun = async (send: Caller, agent: string): Promise<string> =>
  (await send("POST", `/v1/agents/${agent}/runs`, { input: {} })).body.id;
const untilAsking = (send: Caller, run: string) =>
  waitFor(
    "the run to wait",
    async () => (await send("GET", `/v1/runs/${run}`)).body.phase === "awaiting_confirmation",
    20_000,
  );
async function approve(send: Caller, run: string): Promise<void> {
  const [question] = (await send("GET", `/v1/runs/${run}/confirmations`)).body.confirmations;
  const answered = await send("POST", `/v1/runs/${run}/confirmations/${question.id}`, { approve: true });
  expect(answered.status, answered.text).toBe(200);
}
const untilDone = (send: Caller, run: string) =>
  waitFor(
    "the run to end",
    async () => {
      const { status, error } = (await send("GET", `/v1/runs/${run}`)).body;
      expect(error).toBeUndefined();
      return status === "done";
    },
    takeOverMs,
  );
const callerOf =
  (node: GantryNode): Caller =>
  (method, path, json) =>
    node.call(method, path, json === undefined ? {} : { json });

test("a confirmation survives kill -9, and any node acts on the answer", async () => {
  const own = await testDatabase();
  const home = join(scratch, "killed");
  const adminKey = "admin-key-for-tests-0123456789-abcdef";
  const server = startServer({
    DATABASE_URL: own.url,
    GANTRY_HOME: home,
    GANTRY_ADMIN_KEY: adminKey,
    GANTRY_ALLOW_PRIVATE_NETWORK: "1",
  });
  let survivor: GantryNode | undefined;
  try {
    const url = await server.url();
    const send: Caller = (method, path, json) =>
      call(url, method, path, { key: adminKey, ...(json !== undefined && { json }) });
    const { asking, parent } = await prepare(send);
    const runs = [await startRun(send, asking), await startRun(send, parent)];
    for (const run of runs) await untilAsking(send, run);
    server.kill("SIGKILL");
    await server.exit;
    // No node had claimed a run, so no death has to be detected.
    expect(await own.database.sql`select id from runs where holder is not null`).toEqual([]);
    survivor = await startGantry({ beside: { databaseUrl: own.url, database: own.database, home } as GantryNode });
    const again = callerOf(survivor);
    for (const run of runs) {
      await approve(again, run);
      await untilDone(again, run);
    }
    expect(await verifyLedger(own.database)).toEqual([]);
  } finally {
    server.kill("SIGKILL");
    await survivor?.close();
    await own.drop();
  }
}, 60_000);

test("a backup taken while runs work and wait restores, and the runs continue", async () => {
  const [from, to] = [await testDatabase(), await testDatabase()];
  const home = join(scratch, "restored");
  const at = ({ url, database }: { url: string; database: Database }) =>
    startGantry({ beside: { databaseUrl: url, database, home } as GantryNode });
  const first = await at(from);
  const send = callerOf(first);
  const { slow, asking, parent } = await prepare(send);
  const runs = [await startRun(send, slow), await startRun(send, asking), await startRun(send, parent)] as const;
  for (const run of runs.slice(1)) await untilAsking(send, run);
  await waitFor("the slow call", () => llm.open === 1);

  const blobs = await openFilesystemBlobs({
    home: join(scratch, "blobs"),
    bucket: "gantry",
    credentials: { accessKeyId: "a", secretAccessKey: "b".repeat(40) },
  });
  const parts: Uint8Array[] = [];
  await writeBackup({
    database: from.database,
    blobs,
    keys: [],
    withBlobs: true,
    now: new Date(),
    known: await readMigrations(migrationsDir),
    whileSchemaStays: (work) => work(),
    write: async (bytes) => void parts.push(Buffer.from(bytes)),
  });
  await restoreBackup({
    database: to.database,
    blobs,
    archive: await checkArchive(() => Readable.from(parts)),
    replace: true,
    now: new Date(),
    known: await readMigrations(migrationsDir),
    migrateTo: (names) => migrate(to.database, ownSchema, { only: new Set(names) }),
    lock: async () => {},
    prepareKeys: async () => {},
    settleKeys: async () => "took place",
  });
  const second = await at(to);
  try {
    isSlow = false;
    const again = callerOf(second);
    for (const run of runs.slice(1)) await approve(again, run);
    for (const run of runs) await untilDone(again, run);
    expect(await verifyLedger(to.database)).toEqual([]);
    const [left] = await to.database.sql`
      select (select count(*)::int from live_predictions) as live, (select sum(reserved_micros)::int from wallets) as reserved,
        (select concat(sum(input_tokens), ' ', sum(cost_micros)) from runs where cardinality(ancestors) = 0) as told,
        (select concat(sum(input_tokens), ' ', sum(price_micros)) from usage where route = 'agent') as counted`;
    expect(left).toMatchObject({ live: 0, reserved: 0, told: left?.counted });
  } finally {
    await second.close();
    await first.close();
    await blobs.close();
    await from.drop();
    await to.drop();
  }
}, 90_000);
