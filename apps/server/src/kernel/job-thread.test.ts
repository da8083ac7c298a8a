import { expect, test } from "vitest";
import { JobThread } from "./job-thread.ts";

const echo = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from "node:worker_threads";
    parentPort.on("message", ({ id, value }) => parentPort.postMessage({ id, result: typeof value }));
    parentPort.postMessage({ ready: true });`)}`,
);

test("what cannot be handed to a thread is lost alone, and the thread goes on", async () => {
  const thread = new JobThread<{ value: unknown }, string>(echo, {}, 5_000, () => {});
  let deep: unknown = [];
  for (let level = 0; level < 200_000; level++) deep = [deep];
  expect(await thread.run({ value: deep }, undefined)).toBe("lost");
  expect(await thread.run({ value: () => {} }, undefined)).toBe("lost");
  expect(await thread.run({ value: "text" }, undefined)).toEqual({ result: "string" });
  await thread.end();
});
