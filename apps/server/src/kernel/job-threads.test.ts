import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createJobThreads } from "./job-threads.ts";

const works = `
  import { parentPort } from "node:worker_threads";
  parentPort.on("message", ({ id, value }) => {
    if (value === "throw") throw new Error("a bug");
    parentPort.postMessage({ id, result: value });
  });
  parentPort.postMessage({ ready: true });`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "gantry-threads-"));
});
afterAll(() => rm(folder, { recursive: true }));

function open(script: URL) {
  const troubles: string[] = [];
  const threads = createJobThreads<{ value: string }, string>({
    script,
    worker: {},
    deadlineMs: 10_000,
    threads: 1,
    maxWaiting: 10,
    crowded: "Too many wait",
    onTrouble: (text, error) => troubles.push(`${text}: ${error.message}`),
  });
  return { threads, troubles };
}
const unavailable = { type: "service_unavailable", retryable: true };

test("a job whose thread cannot start is tried twice and refused; later jobs recover", async () => {
  const path = join(folder, "later.mjs");
  const { threads, troubles } = open(pathToFileURL(path));
  const both = await Promise.allSettled([threads.run({ value: "a" }), threads.run({ value: "b" })]);
  for (const end of both) expect(end).toMatchObject({ status: "rejected", reason: unavailable });
  expect(troubles).toHaveLength(4);
  expect(troubles[0]).toMatch(/^A thread of later\.mjs could not be started: Cannot find module/);
  await writeFile(path, works);
  expect(await threads.run({ value: "c" })).toEqual({ result: "c" });
  await threads.close();
});

test("a thread that starts at the second attempt runs the job", async () => {
  const mark = join(folder, "was-tried");
  const path = join(folder, "second.mjs");
  await writeFile(
    path,
    `import { existsSync, writeFileSync } from "node:fs";
    if (!existsSync(${JSON.stringify(mark)})) { writeFileSync(${JSON.stringify(mark)}, ""); throw new Error("not yet"); }
    ${works}`,
  );
  const { threads, troubles } = open(pathToFileURL(path));
  expect(await threads.run({ value: "a" })).toEqual({ result: "a" });
  expect(troubles).toEqual(["A thread of second.mjs could not be started: not yet"]);
  await threads.close();
});

test("no job is left waiting if the system cannot create threads", async () => {
  const { threads, troubles } = open(new URL("https://example.com/worker.mjs"));
  await expect(threads.run({ value: "a" })).rejects.toMatchObject(unavailable);
  await expect(threads.run({ value: "b" })).rejects.toMatchObject(unavailable);
  expect(troubles).toHaveLength(4);
  await threads.close();
});

test("a bug in a thread is reported, fails its job alone, and the next job gets a new thread", async () => {
  const path = join(folder, "bug.mjs");
  await writeFile(path, works);
  const { threads, troubles } = open(pathToFileURL(path));
  expect(await threads.run({ value: "throw" })).toMatchObject({ failed: { message: "a bug" } });
  expect(await threads.run({ value: "a" })).toEqual({ result: "a" });
  expect(troubles).toEqual(["A thread of bug.mjs failed: a bug"]);
  await threads.close();
});
