import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { connect, type Database } from "../../src/engines/database/index.ts";
import { verifyLedger } from "../../src/features/billing/index.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { waitFor } from "../support/wait-for.ts";
import { call, putModel } from "./client.ts";
import { recoveryBoundSeconds } from "./crash-storm.ts";
import { untilQuiet } from "./money-storm.ts";
import { promptOf, type Script, startUpstreams, type Upstreams } from "./upstreams.ts";

/** Less than the default drain limit, and enough to start another worker. */
const graceSeconds = 15;

interface Workplace {
  cluster: Cluster;
  database: Database;
  upstreams: Upstreams;
  /** Queues a job of the model `admin/make`; returns its id. */
  accept(script: Partial<Script>): Promise<string>;
  endOf(id: string): Promise<{ status: number; type: string | null; charges: number } | undefined>;
}

/** An API process and workers on their own database. */
async function withWorkers(workers: string[], work: (place: Workplace) => Promise<void>): Promise<void> {
  const databaseUrl = await testDatabaseUrl();
  const upstreams = await startUpstreams();
  const worker = { GANTRY_ROLE: "worker", GANTRY_STOP_GRACE_SECONDS: String(graceSeconds) };
  const nodes = Object.fromEntries(workers.map((name) => [name, worker]));
  const cluster = await startCluster({ databaseUrl, nodes: { api: { GANTRY_ROLE: "api" }, ...nodes } });
  const database = connect({ url: databaseUrl, poolSize: 2 });
  const { url } = cluster.node("api");
  try {
    const manifest = { capacity: 10, pricing: { per_request: 0.01 }, max_queue_seconds: 8 };
    await putModel(url, "make", { ...manifest, backend: { type: "cog", url: upstreams.cogUrl } });
    await work({
      cluster,
      database,
      upstreams,
      async accept(script) {
        const prompt = promptOf({
          end: "hang",
          ms: 0,
          words: 1,
          inputTokens: 1,
          outputTokens: 1,
          mark: "m",
          ...script,
        });
        const answer = await call(url, "POST", "/api/v1/admin/make/predict/async/", { form: { prompt } });
        expect(answer.status, answer.text).toBe(200);
        return answer.body.prediction_id;
      },
      async endOf(id) {
        const [row] = await database.sql<{ status: number; type: string | null; charges: number }[]>`
          select status, error #>> '{0,type}' as type,
            (select count(*)::int from usage where request_id = e.id and price_micros > 0) as charges
          from ended_predictions e where id = ${id}`;
        return row;
      },
    });
    await untilQuiet(database);
    expect(await verifyLedger(database)).toEqual([]);
  } finally {
    await cluster.close();
    await database.close();
    await upstreams.close();
  }
}

describe.concurrent("a worker that dies", () => {
  test("loses its job to another within 15 s; a job that kills three workers fails", async () => {
    await withWorkers(["worker"], async ({ cluster, upstreams, accept, endOf }) => {
      const worker = cluster.node("worker");
      const id = await accept({ end: "hang" });
      let diedAt = 0;
      for (let death = 1; death <= 3; death++) {
        await waitFor(`start ${death} of the job`, () => upstreams.seen.get(id)?.calls === death, 60_000);
        if (death > 1) expect((performance.now() - diedAt) / 1000).toBeLessThan(recoveryBoundSeconds(cluster));
        diedAt = performance.now();
        await worker.kill();
        await worker.start();
      }
      await waitFor("the job to be given up", async () => (await endOf(id)) !== undefined, 60_000);
      expect((performance.now() - diedAt) / 1000).toBeLessThan(recoveryBoundSeconds(cluster));
      expect(await endOf(id)).toEqual({ status: 500, type: "internal_server_error", charges: 0 });
      await sleep(500);
      expect(upstreams.seen.get(id)?.calls).toBe(3);
      // The worker recovers from the poisonous job.
      const next = await accept({ end: "ok" });
      await waitFor("another job", async () => (await endOf(next))?.status === 200);
    });
  }, 180_000);
});

describe.concurrent("a worker that drains", () => {
  test("finishes jobs within its limit and releases the rest at once, without counting a death", async () => {
    await withWorkers(["leaving", "staying"], async ({ cluster, database, upstreams, accept, endOf }) => {
      const [leaving, staying] = [cluster.node("leaving"), cluster.node("staying")];
      await staying.terminate();
      const short = await accept({ end: "ok", ms: 3_000 });
      const long = await accept({ end: "hang" });
      await waitFor("both to run", () => upstreams.open === 2);
      let leftAfter = 0;
      const askedAt = performance.now();
      const exit = leaving.terminate().finally(() => {
        leftAfter = (performance.now() - askedAt) / 1000;
      });
      await staying.start();
      const later = await accept({ end: "ok" });
      await waitFor("a new job to be the other's", async () => (await endOf(later))?.status === 200, 30_000);
      await waitFor("the short one to end", async () => (await endOf(short)) !== undefined);
      expect(await endOf(short)).toEqual({ status: 200, type: null, charges: 1 });
      expect(upstreams.seen.get(short)?.calls).toBe(1);
      expect(await exit).toEqual({ code: 0, signal: null });
      expect(leftAfter).toBeGreaterThanOrEqual(graceSeconds);
      expect(leftAfter).toBeLessThan(graceSeconds + 10);
      await waitFor("the long one to run again", () => upstreams.seen.get(long)?.calls === 2, 20_000);
      const [row] = await database.sql`select deaths from live_predictions where id = ${long}`;
      expect(row).toEqual({ deaths: 0 });
      expect(upstreams.open).toBe(1);
      upstreams.release(long);
      await waitFor("the long one to end", async () => (await endOf(long)) !== undefined);
      expect(await endOf(long)).toEqual({ status: 200, type: null, charges: 1 });
    });
  }, 120_000);
});
