import { expect, test } from "vitest";
import { JobThread } from "./job-thread.ts";

const script = (text: string) => new URL(`data:text/javascript,${encodeURIComponent(text)}`);
const start = (text: string) => new JobThread<{ value: unknown }, string>(script(text), limits, 10_000, () => {});
const limits = { resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 4 } };

/** Answers with the type of its job, or dies on request. */
const obedient = `
  import { parentPort } from "node:worker_threads";
  parentPort.on("message", ({ id, value }) => {
    if (value === "throw") throw new Error("a bug");
    if (value === "exit") process.exit(3);
    for (const all = []; value === "fill"; ) all.push(new Array(100_000).fill(all.length));
    parentPort.postMessage({ id, result: typeof value });
  });
  parentPort.postMessage({ ready: true });`;

test("a job that cannot be posted fails alone, and the thread continues", async () => {
  const thread = start(obedient);
  let deep: unknown = [];
  for (let level = 0; level < 200_000; level++) deep = [deep];
  expect(await thread.run({ value: deep }, undefined)).toEqual({ failed: expect.any(RangeError) });
  expect(await thread.run({ value: () => {} }, undefined)).toEqual({ failed: expect.any(Error) });
  expect(await thread.run({ value: "text" }, undefined)).toEqual({ result: "string" });
  await thread.end();
});

test("a thread that runs out of memory is reported as such, not as a bug", async () => {
  expect(await start(obedient).run({ value: "fill" }, undefined)).toBe("out of memory");
  expect(await start(obedient).run({ value: "throw" }, undefined)).toMatchObject({ failed: { message: "a bug" } });
  expect(await start(obedient).run({ value: "exit" }, undefined)).toMatchObject({
    failed: { message: "The thread ended with code 3" },
  });
});

test.each([
  'import "a-package-that-is-gone";',
  "process.exit(1);",
  "for (const all = []; ; ) all.push(new Array(100_000).fill(all.length));",
])("a thread that dies before it is ready says nothing about its job: %s", async (text) => {
  expect(await start(text).run({ value: "text" }, undefined)).toEqual({ unstarted: expect.any(Error) });
});
