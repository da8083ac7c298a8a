import { mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../../src/engines/database/free-port.ts";
import { connect, type Database } from "../../src/engines/database/index.ts";
import { isAlive } from "../../src/engines/database/processes.ts";
import { call, newUser, putModel, send, textModel } from "../proof/client.ts";
import { untilQuiet } from "../proof/money-storm.ts";
import { promptOf, type Script, startUpstreams, type Upstreams } from "../proof/upstreams.ts";
import { clusterAdminKey } from "../support/cluster.ts";
import { gantryCommand } from "../support/gantry-command.ts";
import { readStream } from "../support/read-stream.ts";
import { waitFor } from "../support/wait-for.ts";
import { endEverything, postmasterOf, type ServerProcess, startServer } from "./server-process.ts";

/** Three processes on one port and one home, with the embedded PostgreSQL. */
let home: string;
let upstreams: Upstreams;
let server: ServerProcess;
let url: string;
let database: Database;
const started = new Set<ServerProcess>();

function start(port: number): ServerProcess {
  const next = startServer({
    GANTRY_HOME: home,
    PORT: String(port),
    GANTRY_ADMIN_KEY: clusterAdminKey,
    GANTRY_ALLOW_PRIVATE_NETWORK: "1",
    GANTRY_PROCESSES: "3",
    GANTRY_METRICS_OPEN: "1",
    GANTRY_WORKER_PARALLEL: "50",
  });
  started.add(next);
  return next;
}

/** What a client with a kept connection saw at `/readyz` during the last start. */
let readiness: number[];

async function startAll(): Promise<void> {
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  server = start(port);
  readiness = [];
  const early = openConnection("");
  const isUp = async () => {
    const status = await early.get("/readyz").then(
      (answer) => answer.status,
      () => 0,
    );
    readiness.push(status);
    return status === 200;
  };
  await Promise.all([waitFor("readiness over a kept connection", isUp, 180_000), server.url(180_000)]).finally(
    early.close,
  );
  await untilServing(3);
  const { password } = JSON.parse(await readFile(join(home, "postgres.json"), "utf8"));
  const ofDatabase = (await readFile(join(home, "postgres", "postmaster.pid"), "utf8")).split("\n")[3];
  database = connect({ url: `postgres://gantry:${password}@127.0.0.1:${ofDatabase}/gantry`, poolSize: 2 });
}

async function metrics(): Promise<Map<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]));
}

const untilServing = (count: number) =>
  waitFor(
    `${count} processes`,
    async () => (await metrics().catch(() => undefined))?.get('gantry_processes{state="serving"}') === count,
    180_000,
  );

/** The server processes, by /proc: children of the supervisor that run the same program as it. */
async function childrenOf(pid: number): Promise<number[]> {
  const pids = (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).trim().split(" ").map(Number);
  const isServer = await Promise.all(
    pids.map(async (one) =>
      (await readFile(`/proc/${one}/cmdline`, "utf8").catch(() => "")).includes("server.process"),
    ),
  );
  return pids.filter((_, at) => isServer[at]);
}

const promptFor = (mark: string, script: Partial<Script> = {}) =>
  promptOf({ end: "ok", ms: 0, words: 4, inputTokens: 1, outputTokens: 1, mark, ...script });
const path = (model: string, way = "") => `/api/v1/admin/${model}/predict${way}`;

interface Connection {
  get(path: string): Promise<{ status: number; text: string }>;
  post(path: string, fields: Record<string, string>): Promise<{ status: number; text: string }>;
  close(): void;
}

/** One kept connection. Connections in a row belong to processes in turn. */
function openConnection(key: string): Connection {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  async function ask(method: string, to: string, form?: FormData) {
    const encoded = new Response(form);
    const body = Buffer.from(await encoded.arrayBuffer());
    const headers = { "x-api-key": key, ...Object.fromEntries(encoded.headers), "content-length": body.length };
    return new Promise<{ status: number; text: string }>((resolve, reject) => {
      const sent = request(`${url}${to}`, { method, agent, headers }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk) => {
          text += chunk;
        });
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
        response.on("error", reject);
      });
      sent.on("error", reject);
      sent.end(body);
    });
  }
  return {
    get: (to) => ask("GET", to),
    post(to, fields) {
      const form = new FormData();
      for (const [name, value] of Object.entries(fields)) form.append(name, value);
      return ask("POST", to, form);
    },
    close: () => agent.destroy(),
  };
}

/** Kept connections to all processes, each used once, so that they are in place. */
async function connections(count: number, key: string): Promise<Connection[]> {
  const all = Array.from({ length: count }, () => openConnection(key));
  for (const one of all) await one.get("/healthz");
  return all;
}

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "gantry-processes-"));
  upstreams = await startUpstreams();
  await startAll();
  const cog = { type: "cog", url: upstreams.cogUrl };
  const chat = { type: "openai-chat", url: upstreams.chatUrl, model: "test" };
  await putModel(url, "make", { capacity: 200, pricing: { per_request: 0.01 }, backend: cog });
  await putModel(url, "five", { capacity: 5, pricing: { per_request: 0.001 }, backend: cog });
  await putModel(url, "say", { capacity: 200, pricing: { per_request: 0.001 }, ...textModel, backend: chat });
}, 400_000);

afterAll(async () => {
  await database?.close();
  await endEverything(started, [home]);
  await upstreams?.close();
  await rm(home, { recursive: true, force: true });
}, 60_000);

describe("three processes on one port", () => {
  test("start as one server", async () => {
    expect(readiness).toContain(503);
    expect(server.stdout().match(/^Gantry listens on/gm)).toHaveLength(1);
    expect(server.stdout().match(/^Sign in to the console/gm)).toHaveLength(1);
    const figures = await metrics();
    expect(figures.get("gantry_nodes_alive")).toBe(3);
    // A setting for the whole server.
    expect(figures.get("gantry_worker_slots")).toBe(50);
    const status = await gantryCommand(["status", "--url", url], {});
    expect(status.stdout).toContain("3 processes");
  }, 30_000);

  test("keep limits, capacity and money exact over kept connections to all of them", async () => {
    const all = await connections(12, await newUser(url, "narrow", { plan: "free" }));
    const prompt = promptFor("narrow", { end: "hang" });
    let refused = 0;
    const held = all.map(async (one) => {
      const { status } = await one.post(path("make"), { prompt });
      if (status === 429) refused++;
      return status;
    });
    await waitFor("eight refusals", () => refused === 8, 30_000);
    await waitFor("four calls", () => upstreams.open === 4, 30_000);
    for (const id of upstreams.seen.keys()) upstreams.release(id);
    expect((await Promise.all(held)).filter((status) => status === 200)).toHaveLength(4);
    // Refusals do not count, so 56 of 60 requests a minute are left.
    const rated = await Promise.all(
      Array.from({ length: 84 }, (_, n) => all[n % 12]?.post(path("make", "/async/"), { prompt: promptFor("rated") })),
    );
    expect(rated.filter((answer) => answer?.status === 200)).toHaveLength(56);

    // Money for exactly seven calls: a balance of 0 allows one more.
    const poor = await connections(12, await newUser(url, "poor", { credit: 0.06 }));
    const paid = await Promise.all(
      Array.from({ length: 36 }, (_, n) => poor[n % 12]?.post(path("make"), { prompt: promptFor("poor") })),
    );
    const count = (status: number) => paid.filter((answer) => answer?.status === status).length;
    expect([count(200), count(403)]).toEqual([7, 29]);
    for (const one of [...all, ...poor]) one.close();

    const many = Array.from({ length: 40 }, () =>
      call(url, "POST", path("five", "/async/"), { form: { prompt: promptFor("five", { ms: 30 }) } }),
    );
    await Promise.all(many);
    await untilQuiet(database, 30_000);
    expect(upstreams.most("five")).toBe(5);
  }, 120_000);

  test("show and cancel a stream through any of them", async () => {
    const response = await send(url, "POST", path("say", "/stream/"), {
      form: { prompt: promptFor("followed", { end: "hang" }) },
    });
    const events = readStream(response);
    const { prediction_id: id } = (await events.next()).value;
    const others = await connections(3, clusterAdminKey);
    // Three new connections in a row belong to three processes.
    const results = await Promise.all(
      others.map((one) => one.get(`${path("say", "/async/result/")}?request_id=${id}`)),
    );
    expect(results.map(({ text }) => JSON.parse(text).inference_responses[0].infer_details.status)).toEqual([
      202, 202, 202,
    ]);
    const followed = await send(url, "GET", `${path("say", "/async/result/")}?request_id=${id}`, {
      headers: { accept: "application/x-ndjson" },
    });
    const cancelled = await call(url, "POST", path("say", "/cancel/"), { json: { prediction_id: id } });
    expect(cancelled.body).toEqual({ prediction_id: id, status: 499 });
    await waitFor("the upstream call to be stopped", () => upstreams.open === 0);
    expect((await Array.fromAsync(events)).at(-1)).toMatchObject({ status: 499 });
    expect((await followed.text()).trim().split("\n").at(-1)).toContain('"status":499');
    for (const one of others) one.close();
  }, 60_000);

  test("refuse a revoked key", async () => {
    const key = await newUser(url, "leaver");
    const all = await connections(6, key);
    const ask = () => Promise.all(all.map(async (one) => (await one.get("/api/v2/me")).status));
    expect(new Set(await ask())).toEqual(new Set([200]));
    const own = (await call(url, "GET", "/api/v2/keys", { key })).body.results[0].id;
    expect((await call(url, "DELETE", `/api/v2/keys/${own}`, { key })).status).toBeLessThan(300);
    await waitFor("all processes to know", async () => (await ask()).every((status) => status === 401));
    for (const one of all) one.close();
  }, 60_000);

  test("sum their metrics", async () => {
    const name = 'gantry_predictions_ended_total{outcome="done",type=""}';
    const before = (await metrics()).get(name) ?? 0;
    const all = await connections(6, clusterAdminKey);
    await Promise.all(all.map((one) => one.post(path("make"), { prompt: promptFor("counted") })));
    const figures = await metrics();
    expect((figures.get(name) ?? 0) - before).toBe(6);
    const processes = [...figures.keys()].filter((key) => key.startsWith("process_resident_memory_bytes"));
    expect(processes).toHaveLength(4);
    for (const one of all) one.close();
  }, 60_000);

  test("replace one that is killed under load, and lose nothing that was accepted", async () => {
    const accepted: string[] = [];
    let isGoing = true;
    const clients = Array.from({ length: 8 }, async (_, n) => {
      while (isGoing) {
        const form = { prompt: promptFor(`killed-${n}`, { ms: 100 }) };
        const answer = await call(url, "POST", path("make", "/async/"), { form }).catch(() => undefined);
        if (answer?.status === 200) accepted.push(answer.body.prediction_id);
      }
    });
    await waitFor("load", () => accepted.length > 30, 30_000);
    const before = await metrics();
    const children = await childrenOf(server.pid);
    expect(children).toHaveLength(3);
    process.kill(children[0] ?? 0, "SIGKILL");
    const sofar = accepted.length;
    await waitFor("more load", () => accepted.length > sofar + 30, 30_000);
    await untilServing(3);
    isGoing = false;
    await Promise.all(clients);
    await untilQuiet(database, 60_000);
    const rows = await database.sql<{ status: number; n: number; ids: number }[]>`
      select status, count(*)::int as n, count(distinct request_id)::int as ids from usage
      where request_id = any (${accepted}) group by status`;
    expect([...rows]).toEqual([{ status: 200, n: accepted.length, ids: accepted.length }]);
    const after = await metrics();
    for (const [key, value] of before) {
      if (key.startsWith("gantry_") && /_(total|count)[{]/.test(key))
        expect(after.get(key), key).toBeGreaterThanOrEqual(value);
    }
    expect(server.stdout()).toContain("A server process has ended");
  }, 180_000);

  test("are replaced while the home cannot be written, and change no setting", async () => {
    const [lock, away] = [join(home, "lock"), join(home, "lock-away")];
    await rename(lock, away);
    process.kill((await childrenOf(server.pid))[0] ?? 0, "SIGKILL");
    await waitFor("the warning", () => server.stdout().includes("GANTRY_HOME could not be updated"), 30_000);
    await untilServing(3);
    await rename(away, lock);
    const changes = await database.sql`select entry from audit_records where entry ->> 'action' = 'settings.change'`;
    expect([...changes]).toEqual([]);
    // The next start ends the processes that the home names, so all of them must be named again.
    const unnamed = (await childrenOf(server.pid)).at(-1) ?? 0;
    process.kill(unnamed, "SIGTERM");
    await waitFor("it to end", async () => !(await isAlive(unnamed)), 30_000);
    await untilServing(3);
  }, 180_000);

  test("end with a killed supervisor, and SIGTERM lets all of them finish", async () => {
    const orphans = await childrenOf(server.pid);
    process.kill(orphans[0] ?? 0, "SIGSTOP");
    await database.close();
    server.kill("SIGKILL");
    await server.exit;
    await waitFor(
      "the others to end",
      async () => !(await isAlive(orphans[1] ?? 0)) && !(await isAlive(orphans[2] ?? 0)),
      30_000,
    );
    expect(await isAlive(orphans[0] ?? 0)).toBe(true);
    await startAll();
    expect(await isAlive(orphans[0] ?? 0)).toBe(false);

    const running = Array.from({ length: 6 }, () =>
      call(url, "POST", path("make"), { form: { prompt: promptFor("last", { end: "hang" }) } }),
    );
    await waitFor("six calls", () => upstreams.open === 6, 30_000);
    const children = await childrenOf(server.pid);
    // As Ctrl+C in a terminal: every process gets the signal.
    for (const pid of [...children, server.pid]) process.kill(pid, "SIGINT");
    await waitFor("new work to be refused", async () => (await call(url, "GET", "/api/v2/me")).status === 503, 20_000);
    for (const id of upstreams.seen.keys()) upstreams.release(id);
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 200));
    expect(await server.exit).toEqual({ code: 0, signal: null });
    expect(await postmasterOf(home)).toBeUndefined();
    for (const pid of children) expect(await isAlive(pid)).toBe(false);
  }, 240_000);
});
