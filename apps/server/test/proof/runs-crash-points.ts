import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connect, type Database } from "../../src/engines/database/index.ts";
import { verifyLedger } from "../../src/features/billing/index.ts";
import { type ServerProcess, startServer } from "../process/server-process.ts";
import { type GantryNode, startGantry } from "../support/gantry.ts";
import { type LlmAnswer, type LlmRequest, type ScriptedLlm, startScriptedLlm } from "../support/scripted-llm.ts";
import { waitFor } from "../support/wait-for.ts";
import { call } from "./client.ts";
import { type Breakpoint, type BreakpointWire, startBreakpointWire } from "./runs-breakpoints.ts";

/**
 * A run's server is killed at every write of the run, and another server finishes it. The run plans, calls
 * a reading and a writing tool in one step, then another agent, finishes and formats its answer.
 */
export interface Walk {
  /** Every write of an undisturbed run in order, before and after. */
  breakpoints: Breakpoint[];
  /** Takes the run to the point, kills the server, lets another continue. */
  kill(at: Breakpoint): Promise<BreakReport>;
  /** Stops the server until another has finished the run, then resumes it. */
  sleep(at: Breakpoint): Promise<BreakReport>;
  /** Makes the database unreachable for this long. */
  away(at: Breakpoint, milliseconds: number): Promise<BreakReport>;
  /** Loses the answer to every write of the run once. Returns the faults. */
  loseEveryAnswer(): Promise<string[]>;
  close(): Promise<void>;
}

export interface BreakReport {
  at: Breakpoint;
  /** Faults in sentences; an empty list is the proof. */
  faults: string[];
  /** From the kill until another server continued; undefined if no work was left. */
  takenOverMs: number | undefined;
}

const modelCalls = 6;
/** Time until the death is detected, with slack for a busy machine. */
const endWithinMs = 90_000;
/** Long enough for a resumed server to do its remaining work. */
const awakeMs = 3_000;
const bound = ["/usr/bin/setpriv", "--pdeathsig", "KILL"];

/** `serverUrl`: of a PostgreSQL, without a database name, as a superuser. `template`: a migrated database on it. */
export async function startWalk(serverUrl: string, template: string): Promise<Walk> {
  const far = await startFarSide();
  const databases = databasesOn(serverUrl);
  const home = await mkdtemp(join(tmpdir(), "gantry-walk-"));
  const ready = await databases.clone(template);
  const prepared = await asSurvivor(ready.url, home, { GANTRY_ROLE: "api" });
  const agentId = await prepareAgents(prepared.gantry, far.llm.url);
  await prepared.close();

  /** A run with its own database and server process, so that all rows belong to it. */
  async function attempt(at: Breakpoint | undefined, disturb: (scene: Scene) => Promise<Disturbed>): Promise<Attempt> {
    const key = `walk-${randomBytes(6).toString("hex")}`;
    const own = await databases.clone(ready.name);
    const wire = await startBreakpointWire(own.url);
    const server = startServer(
      {
        DATABASE_URL: wire.url,
        GANTRY_HOME: home,
        GANTRY_ADMIN_KEY: prepared.gantry.adminKey,
        GANTRY_ALLOW_PRIVATE_NETWORK: "1",
        GANTRY_LOG_LEVEL: "warn",
      },
      bound,
    );
    const database = connect({ url: own.url, poolSize: 2 });
    let survivor: Awaited<ReturnType<typeof asSurvivor>> | undefined;
    try {
      const url = await server.url();
      let isAccepted = false;
      const reached = new Promise<number>((resolve) => wire.arm(at, () => resolve(performance.now())));
      const begin = () =>
        // The answer may be lost with the server.
        void call(url, "POST", `/v1/agents/${agentId}/runs`, {
          key: prepared.gantry.adminKey,
          json: { input: { key, far: far.url } },
        }).then(
          ({ status }) => {
            isAccepted = status === 201;
          },
          () => {},
        );
      const { takenOverMs, mayRepeat = 0 } = await disturb({
        wire,
        server,
        database,
        begin,
        reached: () => orTooLong("the point of disturbance", reached),
        async startSurvivor() {
          survivor = await asSurvivor(own.url, home, {});
        },
      });
      if (!(await findRoot(database))) {
        return { seen: wire.seen, faults: isAccepted ? ["an accepted run is gone"] : [], takenOverMs: undefined };
      }
      await untilOver(database);
      return {
        seen: wire.seen,
        faults: await faultsOf({ key, database, far, mayRepeat, isDisturbed: !!at }),
        takenOverMs,
      };
    } catch (error) {
      const rows = await database.sql`select id, status, phase, holder, claim, parked, deaths, error from runs`;
      const logs = `${server.stderr().slice(-2000)} ${survivor?.gantry.logged().slice(-2000)}`;
      const fault = `${(error as Error).message}: ${JSON.stringify([...rows])} ${logs}`;
      return { seen: wire.seen, faults: [fault], takenOverMs: undefined };
    } finally {
      server.kill("SIGKILL");
      await server.exit;
      await survivor?.close();
      await wire.close();
      await database.close();
      await own.drop();
    }
  }

  /** A call with an unstored answer is repeated; a stored one is not. */
  const repeats = (at: Breakpoint) => (at.kind === "settlement" && at.side === "before" ? 1 : 0);
  const report = (at: Breakpoint, { faults, takenOverMs }: Attempt): BreakReport => ({ at, faults, takenOverMs });

  const undisturbed = await attempt(undefined, async ({ begin, database }) => {
    begin();
    await waitFor("the run to be there", async () => (await findRoot(database)) !== undefined);
    return {};
  });
  if (undisturbed.faults.length > 0) throw new Error(`an undisturbed run: ${undisturbed.faults.join("; ")}`);

  return {
    breakpoints: undisturbed.seen.flatMap(({ kind, k }) => [
      // The state before a claim equals the state after the previous write.
      ...(kind === "claim" ? [] : [{ kind, k, side: "before" as const }]),
      { kind, k, side: "after" as const },
    ]),
    kill: async (at) =>
      report(
        at,
        await attempt(at, async ({ begin, reached, server, wire, database, startSurvivor }) => {
          begin();
          const killedAt = await reached();
          server.kill("SIGKILL");
          await server.exit;
          await wire.close();
          const left = await findRoot(database);
          if (!left || left.isOver) return {};
          const claims = await claimsOf(database);
          await startSurvivor();
          await waitFor("another server to take over", async () => (await claimsOf(database)) > claims, endWithinMs);
          return { takenOverMs: performance.now() - killedAt, mayRepeat: repeats(at) };
        }),
      ),
    sleep: async (at) =>
      report(
        at,
        await attempt(at, async ({ begin, reached, server, wire, database, startSurvivor }) => {
          begin();
          await reached();
          server.kill("SIGSTOP");
          await startSurvivor();
          await untilOver(database);
          const before = await stateOf(database);
          // Its held-back writes arrive, then it resumes as if nothing had happened.
          wire.release();
          server.kill("SIGCONT");
          await sleep(awakeMs);
          const after = await stateOf(database);
          if (after !== before) throw new Error(`a resumed server changed ${before} to ${after}`);
          // A call admitted before the stall is made after it, without a charge or an answer.
          return { mayRepeat: at.kind === "admission" && at.side === "after" ? 1 : repeats(at) };
        }),
      ),
    away: async (at, milliseconds) =>
      report(
        at,
        await attempt(at, async ({ begin, reached, wire, database }) => {
          begin();
          await reached();
          wire.cut();
          await sleep(milliseconds);
          wire.mend();
          await waitFor("the run to be there", async () => (await findRoot(database)) !== undefined);
          return {};
        }),
      ),
    loseEveryAnswer: async () => {
      const { faults } = await attempt(undefined, async ({ begin, wire, database }) => {
        begin();
        await waitFor("the run to be there", async () => (await findRoot(database)) !== undefined);
        wire.loseEveryAnswer();
        return {};
      });
      return faults;
    },
    async close() {
      await far.close();
      await ready.drop();
      await databases.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}

interface Scene {
  wire: BreakpointWire;
  server: ServerProcess;
  database: Database;
  begin(): void;
  /** Resolves at the point, with the moment. */
  reached(): Promise<number>;
  startSurvivor(): Promise<void>;
}

interface Disturbed {
  takenOverMs?: number;
  /** Number of model calls that may be repeated. */
  mayRepeat?: number;
}

interface Attempt {
  seen: BreakpointWire["seen"];
  faults: string[];
  takenOverMs: number | undefined;
}

function orTooLong<T>(what: string, work: Promise<T>): Promise<T> {
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error(`waited in vain for ${what}`)), endWithinMs).unref();
  });
  return Promise.race([work, late]);
}

const untilOver = (database: Database) =>
  waitFor("the run to end", async () => (await findRoot(database))?.isOver === true, endWithinMs);

/** All rows of a run and its money as one text. */
async function stateOf({ sql }: Database): Promise<string> {
  await waitFor("all calls to end", async () => (await sql`select 1 from live_predictions`).length === 0, endWithinMs);
  const [row] = await sql<{ state: string }[]>`
    select json_build_object('runs', (select json_agg(r order by r.id) from runs r),
      'calls', (select json_agg(k order by k.run_id, k.step, k.position) from run_calls k),
      'events', (select count(*) from run_events), 'steps', (select count(*) from run_steps),
      'predictions', (select count(*) from ended_predictions), 'usage', (select sum(price_micros) from usage),
      'balance', (select sum(balance_micros) from wallets), 'reserved', (select sum(reserved_micros) from wallets),
      'ledger', (select count(*) from ledger))::text as state`;
  return row?.state ?? "";
}

/** All breakpoints, this many at a time. */
export async function walkAll(
  disturb: (at: Breakpoint) => Promise<BreakReport>,
  points: readonly Breakpoint[],
  atOnce: number,
  onReport: (report: BreakReport) => void = () => {},
): Promise<BreakReport[]> {
  const reports: BreakReport[] = [];
  const open = [...points];
  const one = async () => {
    for (let at = open.shift(); at; at = open.shift()) {
      const report = await disturb(at);
      reports.push(report);
      onReport(report);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return reports;
}

export const nameOf = ({ kind, k, side }: Breakpoint) => `${side} ${kind} ${k}`;

/** The server that continues runs in this process, because it is not killed. */
async function asSurvivor(url: string, home: string, env: Record<string, string>) {
  const database = connect({ url, poolSize: 1 });
  const gantry = await startGantry({ beside: { databaseUrl: url, database, home } as GantryNode, env });
  return {
    gantry,
    async close() {
      await gantry.close();
      await database.close();
    },
  };
}

async function prepareAgents(gantry: GantryNode, llmUrl: string): Promise<string> {
  const text = { type: "string" };
  const must = async (method: string, path: string, json: object) => {
    const answer = await gantry.call(method, path, { json });
    if (answer.status >= 300) throw new Error(answer.text);
    return answer.body;
  };
  await must("PUT", "/api/v1/admin/llm", {
    title: "A language model",
    kind: "text",
    visibility: "public",
    capacity: 10,
    pricing: { per_million_input_tokens: 10, per_million_output_tokens: 100 },
    input: { type: "object", properties: { prompt: text }, required: ["prompt"] },
    output: { type: "object", properties: { output: { ...text, isStream: true } } },
    backend: { type: "openai-chat", url: llmUrl, model: "scripted" },
  });
  const publish = async (json: object) => {
    const { id } = await must("POST", "/v1/agents", { model: "admin/llm", ...json });
    await must("POST", `/v1/agents/${id}/publish`, {});
    return id as string;
  };
  const helper = await publish({
    name: "Helper",
    goal: "HELP with {{key}}.",
    tools: [],
    input_schema: { type: "object", properties: { key: text }, required: ["key"] },
  });
  return publish({
    name: "Walker",
    goal: "WALK {{key}} {{far}}.",
    tools: ["run_javascript", "http_request", { type: "agent", agent_id: helper, name: "helper" }],
    instructions: { planning: "Plan.", formatting: "Format." },
    output_schema: { type: "object", properties: { result: text }, required: ["result"] },
  });
}

interface FarSide {
  url: string;
  llm: ScriptedLlm;
  /** Model calls by run and stage, and calls of the tool that writes by run. */
  asked: Map<string, Record<string, number>>;
  written: Map<string, number>;
  close(): Promise<void>;
}

/** The model, and the target of the writing tool. The model's answer depends only on its messages. */
async function startFarSide(): Promise<FarSide> {
  const asked = new Map<string, Record<string, number>>();
  const written = new Map<string, number>();
  const server = createServer((request, response) => {
    const key = request.url?.slice(1) ?? "";
    if (request.method === "POST") written.set(key, (written.get(key) ?? 0) + 1);
    response.end("written");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const llm = await startScriptedLlm((request) => {
    const whole = JSON.stringify(request.messages);
    const key = /walk-[0-9a-f]{12}/.exec(whole)?.[0] ?? "";
    const stage = stageOf(request);
    const stages = asked.get(key) ?? {};
    asked.set(key, { ...stages, [stage]: (stages[stage] ?? 0) + 1 });
    return sayings[stage](key, /http:[^ "\\]+\d/.exec(whole)?.[0] ?? "");
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    llm,
    asked,
    written,
    async close() {
      await llm.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type Stage = "plan" | "tools" | "agent" | "finish" | "format" | "help";

function stageOf({ messages }: LlmRequest): Stage {
  const [, goal] = messages;
  const last = messages.at(-1)?.content ?? "";
  if (goal?.content?.startsWith("HELP")) return "help";
  if (last.includes("Answer with the plan alone")) return "plan";
  if (last.includes("Give the final answer now")) return "format";
  const results = messages.filter((message) => message.role === "tool").length;
  return results === 0 ? "tools" : results === 2 ? "agent" : "finish";
}

const sayings: Record<Stage, (key: string, far: string) => LlmAnswer> = {
  plan: () => ({ text: "First this, then that.", usage: { in: 31, out: 11 } }),
  tools: (key, far) => ({
    calls: [
      { name: "run_javascript", args: { code: "6 * 7" } },
      { name: "http_request", args: { method: "POST", url: `${far}/${key}`, body: "x" } },
    ],
    usage: { in: 37, out: 23 },
  }),
  agent: (key) => ({ calls: [{ name: "helper", args: { key } }], usage: { in: 41, out: 31 } }),
  finish: () => ({ text: "That was all.", usage: { in: 43, out: 41 } }),
  format: () => ({ text: '{"result":"walked"}', usage: { in: 47, out: 53 } }),
  help: () => ({ text: "helped", usage: { in: 53, out: 61 } }),
};

async function findRoot(database: Database): Promise<{ id: string; isOver: boolean } | undefined> {
  const [row] = await database.sql<{ id: string; isOver: boolean }[]>`
    select id, status in ('done', 'error') as "isOver" from runs where cardinality(ancestors) = 0`;
  return row;
}

/** Grows with every claim and every release from a dead worker; ended runs count as claimed. */
async function claimsOf(database: Database): Promise<number> {
  const [row] = await database.sql<{ n: number }[]>`
    select coalesce(sum(claim), 0)::int + count(*) filter (where status in ('done', 'error'))::int * 1000 as n from runs
    where holder is not null or status in ('done', 'error')`;
  return row?.n ?? 0;
}

/** Checks all rows of one ended run. */
async function faultsOf(scene: {
  key: string;
  database: Database;
  far: FarSide;
  mayRepeat: number;
  isDisturbed: boolean;
}): Promise<string[]> {
  const { key, database, far, mayRepeat, isDisturbed } = scene;
  const faults: string[] = [];
  const { sql } = database;
  const is = (what: string, found: unknown, expected: unknown) => {
    if (JSON.stringify(found) !== JSON.stringify(expected))
      faults.push(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
  };
  const [root] = await sql`select * from runs where cardinality(ancestors) = 0`;
  const children = await sql`select status, error, output from runs where cardinality(ancestors) > 0`;
  is("the run", [root?.status, root?.error, root?.output], ["done", null, { result: "walked" }]);
  is("the other agent", [...children], [{ status: "done", error: null, output: { text: "helped" } }]);

  // No step twice, and no paid step lost.
  const stages = far.asked.get(key) ?? {};
  const calls = Object.values(stages).reduce((sum, n) => sum + n, 0);
  if (calls < modelCalls || calls > modelCalls + mayRepeat)
    faults.push(`the model was asked ${JSON.stringify(stages)}`);
  const [steps] = await sql`
    select (select count(*)::int from run_steps) as steps,
      (select count(*)::int from ended_predictions where status = 200) as paid,
      (select count(*)::int from ended_predictions e join run_steps s on s.prediction_id = e.id where e.status = 200) as both`;
  is("steps and paid calls", steps, { steps: modelCalls, paid: modelCalls, both: modelCalls });

  const made = far.written.get(key) ?? 0;
  const tools = await sql`
    select tool, status, result from run_calls where run_id = ${root?.id ?? ""} order by step, position`;
  is(
    "the calls",
    tools.map(({ tool, status }) => [tool, status]),
    [
      ["run_javascript", "ended"],
      ["http_request", "ended"],
      ["helper", "ended"],
    ],
  );
  if (!/42/.test(tools[0]?.result)) faults.push(`the tool that reads said ${tools[0]?.result}`);
  const isUnknown = /outcome of this call is unknown/.test(tools[1]?.result);
  if (made > 1 || (made === 0 && !isUnknown)) faults.push(`the tool that writes was called ${made} times`);
  if (!isUnknown && !/written/.test(tools[1]?.result)) faults.push(`the tool that writes said ${tools[1]?.result}`);
  if (!isDisturbed && isUnknown) faults.push("the outcome of a call is unknown although nothing happened");

  // Events: numbered without a gap, each reported once.
  const events = await sql<{ run_id: string; n: number; type: string }[]>`
    select run_id, n, type from run_events order by run_id, n`;
  for (const [id, own] of Map.groupBy(events, (event) => event.run_id)) {
    is(
      `the ids of ${id}`,
      own.map((event) => event.n),
      own.map((_, i) => i + 1),
    );
  }
  const told = events.filter((event) => event.run_id === root?.id).map((event) => event.type);
  is(
    "the events",
    [told[0], told.at(-1), [...told].sort()],
    [
      "planning",
      "completed",
      ["completed", "planning", "tool_call", "tool_call", "tool_call", "tool_result", "tool_result", "tool_result"],
    ],
  );

  // Money: charged once, and the run matches the ledger.
  await waitFor("all calls to end", async () => (await sql`select 1 from live_predictions`).length === 0, endWithinMs);
  const [sums] = await sql`
    select coalesce(sum(u.input_tokens), 0)::int as i, coalesce(sum(u.output_tokens), 0)::int as o,
      coalesce(sum(u.price_micros), 0)::int as p from usage u`;
  is(
    "what the run says it used",
    [root?.input_tokens, root?.output_tokens, root?.cost_micros],
    [sums?.i, sums?.o, sums?.p],
  );
  is("the price", sums?.p, 10 * 252 + 100 * 220);
  const [left] = await sql`
    select (select coalesce(sum(reserved_micros), 0)::int from wallets) as reserved,
      (select coalesce(sum(running), 0)::int from wallets) as running,
      (select coalesce(sum(running + waiting), 0)::int from model_slots) as slots,
      (select coalesce(sum(held_micros), 0)::int from runs) as held`;
  is("what is left", left, { reserved: 0, running: 0, slots: 0, held: 0 });
  for (const fault of await verifyLedger(database)) faults.push(`the books: ${JSON.stringify(fault)}`);
  return faults;
}

function databasesOn(serverUrl: string) {
  const admin = connect({ url: `${serverUrl}/postgres`, poolSize: 1, deadlineMs: 60_000 });
  let last: Promise<unknown> = Promise.resolve();
  /** One after the other: a template cannot be used while it is copied. */
  const inTurn = (statement: string) => {
    const done = last.then(() => admin.sql.unsafe(statement));
    last = done.catch(() => {});
    return done;
  };
  return {
    async clone(template: string) {
      const name = `walk_${randomBytes(8).toString("hex")}`;
      for (let attempt = 1; ; attempt++) {
        try {
          await inTurn(`create database ${name} template ${template} strategy file_copy`);
          break;
        } catch (error) {
          // 55006: another process is copying it.
          if (attempt === 50 || !(error instanceof Error && "code" in error && error.code === "55006")) throw error;
          await sleep(20 + Math.random() * 100);
        }
      }
      const drop = async () => void (await inTurn(`drop database if exists ${name} with (force)`));
      return { name, url: `${serverUrl}/${name}`, drop };
    },
    close: () => admin.close(),
  };
}
