import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { connect } from "../../src/engines/database/index.ts";
import { verifyLedger } from "../../src/features/billing/index.ts";
import { startCluster } from "../support/cluster.ts";
import { testDatabase, testDatabaseUrl } from "../support/database.ts";
import { startGantry } from "../support/gantry.ts";
import { waitFor } from "../support/wait-for.ts";
import { call, putModel, textModel } from "./client.ts";
import { untilQuiet } from "./money-storm.ts";
import { promptOf, type Script, startUpstreams } from "./upstreams.ts";
import { startWire } from "./wire.ts";

const promptFor = (mark: string, script: Partial<Script> = {}) =>
  promptOf({ end: "hang", ms: 0, words: 4, inputTokens: 5, outputTokens: 6, mark, ...script });
const pricing = { per_request: 0.01 };

/** Longer than a node may be silent before other nodes consider it dead. */
const longSilenceMs = 13_000;

describe.concurrent("a node that stalls for longer than other nodes wait", () => {
  test("changes nothing when it resumes: its clients get an error, its job is run and charged once", async () => {
    const upstreams = await startUpstreams();
    const databaseUrl = await testDatabaseUrl();
    const cluster = await startCluster({ databaseUrl, nodes: { sleeper: {}, awake: { GANTRY_ROLE: "api" } } });
    const database = connect({ url: databaseUrl, poolSize: 2 });
    const idsByMark = new Map<string, string>();
    upstreams.onCall = (id, { mark }) => idsByMark.set(mark, id);
    const endOf = async (mark: string) => {
      const [row] = await database.sql<{ status: number; charges: number }[]>`
        select status, (select count(*)::int from usage where request_id = e.id and price_micros > 0) as charges
        from ended_predictions e where id = ${idsByMark.get(mark) ?? ""}`;
      return row;
    };
    try {
      const [sleeper, awake] = [cluster.node("sleeper"), cluster.node("awake")];
      const backend = { type: "cog", url: upstreams.cogUrl };
      await putModel(sleeper.url, "make", { capacity: 10, pricing, backend });
      const chat = { type: "openai-chat", url: upstreams.chatUrl, model: "test" };
      await putModel(sleeper.url, "talk", { capacity: 10, pricing, ...textModel, backend: chat });

      const sync = call(sleeper.url, "POST", "/api/v1/admin/make/predict", { form: { prompt: promptFor("sync") } });
      const stream = call(sleeper.url, "POST", "/api/v1/admin/talk/predict/stream/", {
        form: { prompt: promptFor("stream") },
      });
      for (const mark of ["queued", "said"]) {
        const path = `/api/v1/admin/${mark === "said" ? "talk" : "make"}/predict/async/`;
        expect((await call(awake.url, "POST", path, { form: { prompt: promptFor(mark) } })).status).toBe(200);
      }
      await waitFor("all four to run", () => upstreams.open === 4);
      sleeper.pause();
      await waitFor(
        "the clients' ones to be ended",
        async () => (await Promise.all([endOf("sync"), endOf("stream")])).every((end) => end !== undefined),
        20_000,
      );
      await waitFor("the queued ones to be put back", async () => {
        const [row] = await database.sql`select count(*)::int as n from live_predictions where holder is null`;
        return row?.n === 2;
      });
      const callsOf = (mark: string) => upstreams.seen.get(idsByMark.get(mark) ?? "")?.calls;
      sleeper.resume();
      // The only worker claims its own jobs again while it still runs them.
      await waitFor("the jobs to be run again", () => callsOf("queued") === 2 && callsOf("said") === 2, 20_000);
      const wokenAt = performance.now();
      for (const mark of ["sync", "stream", "queued", "said"]) upstreams.release(idsByMark.get(mark) ?? "");
      await sleep(500);
      for (const mark of ["queued", "said"]) upstreams.release(idsByMark.get(mark) ?? "");
      expect((await sync).status).toBeGreaterThanOrEqual(499);
      expect((await stream).text).toMatch(/"status":(499|5\d\d)\}\s*$/);
      await untilQuiet(database);
      expect(performance.now() - wokenAt).toBeLessThan(20_000);
      expect(await endOf("sync")).toEqual({ status: 499, charges: 0 });
      expect(await endOf("stream")).toEqual({ status: 499, charges: 0 });
      expect(await endOf("queued")).toEqual({ status: 200, charges: 1 });
      expect(await endOf("said")).toEqual({ status: 200, charges: 1 });
      await sleep(1_000);
      expect(await database.sql`select * from prediction_fragments`).toEqual([]);
      expect(await verifyLedger(database)).toEqual([]);
    } finally {
      await cluster.close();
      await database.close();
      await upstreams.close();
    }
  }, 120_000);
});

describe.concurrent("a database outage longer than nodes may be silent", () => {
  test("kills no node: the first to reconnect does not consider the others dead", async () => {
    const upstreams = await startUpstreams();
    const own = await testDatabase();
    const wire = await startWire(own.url);
    const env = { DATABASE_URL: wire.url };
    const first = await startGantry({ env });
    const second = await startGantry({ env, beside: first });
    try {
      await putModelOf(first, upstreams.cogUrl);
      const predict = (node: typeof first, mark: string, way = "") =>
        node.call("POST", `/api/v1/admin/make/predict${way}`, { form: { prompt: promptFor(mark) } });
      const runs = [predict(first, "a"), predict(second, "b")];
      const jobs = await Promise.all(["c", "d", "e"].map((mark) => predict(first, mark, "/async/")));
      await waitFor("all to run", () => upstreams.open === 5);
      wire.cut();
      await sleep(longSilenceMs);
      wire.mend();
      await waitFor("the database to be back", () => own.database.ready());
      await sleep(6_000);
      for (const id of upstreams.seen.keys()) upstreams.release(id);
      for (const run of runs) expect((await run).status).toBe(200);
      await untilQuiet(own.database);
      const ended = await own.database.sql<{ id: string; status: number }[]>`select id, status from ended_predictions`;
      expect(ended.map((row) => row.status)).toEqual([200, 200, 200, 200, 200]);
      expect(jobs.every((job) => upstreams.seen.get(job.body.prediction_id)?.calls === 1)).toBe(true);
      expect(await verifyLedger(own.database)).toEqual([]);
    } finally {
      wire.mend();
      await second.close();
      await first.close();
      await wire.close();
      await own.drop();
      await upstreams.close();
    }
  }, 120_000);

  test("does not delay a shutdown: another node ends unwritten predictions without a charge", async () => {
    const upstreams = await startUpstreams();
    const own = await testDatabase();
    const wire = await startWire(own.url);
    const staying = await startGantry({ env: { DATABASE_URL: own.url, GANTRY_ROLE: "api" } });
    const leaving = await startGantry({ env: { DATABASE_URL: wire.url }, beside: staying });
    try {
      await putModelOf(staying, upstreams.cogUrl);
      const form = { prompt: promptFor("a") };
      const sync = leaving.call("POST", "/api/v1/admin/make/predict", { form }).catch(() => undefined);
      const job = await staying.call("POST", "/api/v1/admin/make/predict/async/", { form });
      await waitFor("both to run", () => upstreams.open === 2);
      wire.cut();
      for (const id of upstreams.seen.keys()) upstreams.release(id);
      await sleep(500);
      const askedAt = performance.now();
      await leaving.close();
      expect(performance.now() - askedAt).toBeLessThan(40_000);
      expect((await sync)?.status ?? 503).toBe(503);
      const liveNow = () => own.database.sql<{ id: string; holder: string | null }[]>`
        select id, holder from live_predictions`;
      // No worker is left: the job returns to the queue and stays there.
      await waitFor("the sync one to be ended", async () => (await liveNow()).length === 1, 30_000);
      await waitFor("the job to be put back", async () => (await liveNow())[0]?.holder === null, 30_000);
      const ended = await own.database.sql`select status from ended_predictions`;
      expect(ended).toEqual([{ status: 499 }]);
      expect(await own.database.sql`select 1 from usage where price_micros > 0`).toEqual([]);
      const cancel = `/api/v1/admin/make/predict/cancel/?prediction_id=${job.body.prediction_id}`;
      expect((await staying.call("POST", cancel)).body.status).toBe(499);
      expect(await verifyLedger(own.database)).toEqual([]);
    } finally {
      wire.mend();
      await staying.close();
      await wire.close();
      await own.drop();
      await upstreams.close();
    }
  }, 180_000);

  async function putModelOf(node: { url: string; adminKey: string }, url: string): Promise<void> {
    const text = { type: "string" };
    const answer = await call(node.url, "PUT", "/api/v1/admin/make", {
      key: node.adminKey,
      json: {
        title: "make",
        description: "A model of the proofs.",
        kind: "other",
        visibility: "public",
        capacity: 10,
        pricing,
        input: { type: "object", required: ["prompt"], properties: { prompt: text } },
        output: { type: "object", required: ["output"], properties: { output: text } },
        backend: { type: "cog", url },
      },
    });
    expect(answer.status, answer.text).toBe(201);
  }
});
