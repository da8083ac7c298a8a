import { afterEach, expect, test, vi } from "vitest";
import { noTelemetry } from "../../engines/telemetry/telemetry.ts";
import { fault } from "../../kernel/errors.ts";
import { createLog } from "../../kernel/log.ts";
import type { Run } from "./run.ts";
import type { RunChange } from "./run-writer.ts";
import { createRunWorker, type RunWorkerDeps } from "./work-on-runs.ts";

const run = {
  ...{ id: "run_01", ancestors: [], status: "running", claim: 4, writes: 7, deaths: 3, holder: "node_1", trace: null },
  ...{ timeoutMs: 60_000, activeMs: 0, steps: 2, callId: null, door: null, createdAt: new Date(), startedAt: null },
} as unknown as Run;

/** Answers queries without a database, and records their texts. */
function recordedSql(queries: string[], claimed: Run) {
  const claims = [[claimed]];
  return (strings: TemplateStringsArray) => {
    const text = strings.join("?");
    queries.push(text);
    if (text.includes("from claim_runs")) return Promise.resolve(claims.pop() ?? []);
    if (!text.includes("run_calls")) return Promise.resolve([]);
    return Promise.resolve([{ step: 2, position: 0, kind: "read", status: "started" }]);
  };
}

/** A worker that claims one run, and the first change that it writes. */
function workerOn(claimed: Run, more: object = {}) {
  const queries: string[] = [];
  const change = Promise.withResolvers<RunChange>();
  const deps = {
    database: { sql: recordedSql(queries, claimed) },
    log: createLog("silent"),
    telemetry: noTelemetry,
    nodeId: "node_1",
    write: async (written: RunChange) => {
      change.resolve(written);
      return { n: 0, written: true, cancel: false, room: null, spare: null, held: true, wake: false };
    },
    wakeWorkers() {},
    endDescendants: async () => {},
    parallel: 4,
    ...more,
  };
  return { worker: createRunWorker(deps as unknown as RunWorkerDeps), queries, change: change.promise };
}

afterEach(() => {
  vi.useRealTimers();
});

test("a run whose nodes died too often ends with its charges, without its history being loaded", async () => {
  const usage = { inputTokens: 5, outputTokens: 2, cachedTokens: 0, cacheWriteTokens: 0 };
  const predictions = { recallCall: async () => ({ kind: "done", output: { output: "seen" }, usage, price: 30 }) };
  const { worker, queries, change } = workerOn(run, { predictions });
  await worker.work();
  const { end, cost } = await change;
  expect(end?.error).toEqual({ type: "internal", message: "Three nodes died while they worked on the run" });
  expect(cost).toMatchObject({ cost_micros: 30, input_tokens: 5 });
  const read = queries.filter((text) => /run_calls|run_steps/.test(text));
  expect(read).toHaveLength(1);
  expect(read[0]).not.toMatch(/result|arguments/);
});

/** A run that pauses because a service is unavailable. Its pause only ends if the test ends it. */
async function pausedRun() {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const paused = Promise.withResolvers<void>();
  const working = workerOn({ ...run, claim: 1, steps: 0, deaths: 0 } as Run, {
    agents: { getRevision: () => Promise.reject(fault("service_unavailable", "The file store cannot be reached.")) },
    log: { warn: () => paused.resolve() },
  });
  await working.worker.work();
  await paused.promise;
  return working;
}

test("a run is released after a pause if a service is unavailable", async () => {
  const { worker, change } = await pausedRun();
  await vi.advanceTimersByTimeAsync(2_900);
  expect(worker.underWay()).toBe(1);
  await vi.advanceTimersByTimeAsync(200);
  expect(await change).toMatchObject({ release: true });
});

test("a paused run is released at once if its node shuts down", async () => {
  const { worker, change } = await pausedRun();
  await worker.stop();
  expect(await change).toMatchObject({ release: true });
});

test("a paused run ends at once if it is cancelled", async () => {
  const { worker, change } = await pausedRun();
  worker.stopRun(run.id, "cancelled");
  expect((await change).end).toMatchObject({ status: "error", error: { type: "cancelled" } });
});
