import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createJobProcesses } from "./job-processes.ts";

const works = `
  import { writeFileSync } from "node:fs";
  import { setTimeout as sleep } from "node:timers/promises";
  import { serveJobs } from ${JSON.stringify(new URL("./serve-jobs.ts", import.meta.url).href)};
  serveJobs(async ({ value }, signal) => {
    if (value === "crash") process.abort();
    if (value === "memory") globalThis.kept = Buffer.alloc(400e6, 1);
    if (value === "environment") return Object.keys(process.env).sort();
    if (value === "hang") writeFileSync(new URL("hangs-" + process.pid, import.meta.url), "");
    if (value === "hang") for (;;) await sleep(20);
    if (value === "until cancelled") while (!signal.aborted) await sleep(20);
    if (value === "slow") await sleep(1000);
    return { value, pid: process.pid };
  });`;

let folder: string;
let script: URL;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "gantry-processes-"));
  script = pathToFileURL(join(folder, "works.mjs"));
  await writeFile(script, works);
});
afterAll(() => rm(folder, { recursive: true }));

type Answer = { value: string; pid: number };

function open(options: { script?: URL; idleMs?: number } = {}) {
  const troubles: string[] = [];
  const processes = createJobProcesses<{ value: string }, Answer>({
    ...{ script, flags: [], env: { OWN: "1" }, mostResidentBytes: 300e6, idleMs: 60_000, ...options },
    onTrouble: (text, error) => troubles.push(`${text}: ${error.message}`),
  });
  const run = (value: string, deadlineMs = 20_000, signal?: AbortSignal) =>
    processes.run({ value }, { deadlineMs, ...(signal && { signal }) });
  const answer = async (value: string) => {
    const end = await run(value);
    if (typeof end === "string" || !("result" in end)) throw new Error(`${value} failed`);
    return end.result;
  };
  return { processes, troubles, run, answer };
}

const isAlive = (pid: number) => existsSync(`/proc/${pid}`);

test("a process that cannot start is tried twice and its job refused; later jobs recover", async () => {
  const later = pathToFileURL(join(folder, "later.mjs"));
  const { processes, troubles, run } = open({ script: later });
  await expect(run("a")).rejects.toMatchObject({ type: "service_unavailable", retryable: true });
  expect(troubles).toHaveLength(2);
  expect(troubles[0]).toMatch(/^The process of later\.mjs could not be started: .*Cannot find module/s);
  await writeFile(later, works);
  expect(await run("a")).toMatchObject({ result: { value: "a" } });
  await processes.close();
});

test("jobs share a process that has its own environment only, and it ends when it is idle", async () => {
  const { processes, troubles, run, answer } = open({ idleMs: 100 });
  const [one, two] = await Promise.all([answer("slow"), answer("a")]);
  expect(one.pid).toBe(two.pid);
  await expect.poll(() => processes.pids()).toEqual([]);
  expect(isAlive(one.pid)).toBe(false);
  const { result } = (await run("environment")) as unknown as { result: string[] };
  // Node removes the names of its channel by itself.
  expect(result).toEqual(["OWN"]);
  expect(troubles).toEqual([]);
  await processes.close();
});

test("a job that crashes its process fails; jobs beside it do not", async () => {
  const { processes, troubles, run, answer } = open();
  await answer("a");
  const beside = [run("slow"), run("slow")];
  expect(await run("crash")).toMatchObject({ failed: { message: expect.stringContaining("SIGABRT") } });
  for (const end of await Promise.all(beside)) expect(end).toMatchObject({ result: { value: "slow" } });
  expect(troubles).toHaveLength(2);
  await processes.close();
});

test("a job whose process is killed from outside twice is refused, and may be retried", async () => {
  const { processes, run } = open();
  const message = "The worker process was killed";
  const refused = expect(run("hang", 50_000)).rejects.toMatchObject({
    ...{ type: "service_unavailable", retryable: true, message },
  });
  for (let killed = 0; killed < 2; killed++) {
    // A process that is killed before its job begins would only be started again.
    const hanging = () => processes.pids().find((pid) => existsSync(join(folder, `hangs-${pid}`)));
    await expect.poll(hanging).toBeDefined();
    const pid = hanging() as number;
    process.kill(pid, "SIGKILL");
    await expect.poll(() => processes.pids().includes(pid)).toBe(false);
  }
  await refused;
  expect(await run("a")).toMatchObject({ result: { value: "a" } });
  await processes.close();
});

test("a job that is too slow ends, and its process ends after the jobs beside it", async () => {
  const { processes, troubles, run, answer } = open();
  const { pid } = await answer("a");
  const beside = answer("slow");
  expect(await run("hang", 100)).toBe("too slow");
  const next = await answer("a");
  expect(next.pid).not.toBe(pid);
  expect((await beside).pid).toBe(pid);
  await expect.poll(() => isAlive(pid)).toBe(false);
  expect(processes.pids()).toEqual([next.pid]);
  expect(troubles).toEqual([]);
  await processes.close();
});

test("a process that holds too much memory is replaced under load without a failed job", async () => {
  const { processes, troubles, answer } = open();
  const seen = new Set<number>();
  let isLarge = false;
  const user = async () => {
    while (seen.size < 2) seen.add((await answer("a")).pid);
  };
  const grow = async () => {
    seen.add((await answer("memory")).pid);
    isLarge = true;
  };
  const slow = answer("slow");
  await Promise.all([user(), user(), grow(), slow]);
  expect(isLarge).toBe(true);
  await expect.poll(() => processes.pids()).toHaveLength(1);
  expect(isAlive((await slow).pid)).toBe(false);
  expect(troubles).toEqual([]);
  await processes.close();
});

test("a signal cancels a job in its process, which is kept", async () => {
  const { processes, run, answer } = open();
  const { pid } = await answer("a");
  const leaving = new AbortController();
  const job = run("until cancelled", 20_000, leaving.signal);
  setTimeout(() => leaving.abort(), 50);
  expect(await job).toMatchObject({ result: { pid } });
  await processes.close();
  await expect(run("a")).rejects.toMatchObject({ type: "service_unavailable" });
  expect(isAlive(pid)).toBe(false);
});
