import { afterAll, expect, test } from "vitest";
import { createQuickjsSandbox } from "../../../engines/sandbox/quickjs-sandbox.ts";
import { runJavascriptTool } from "./run-javascript.ts";
import { builtinTool, execute, scopeOf } from "./run-scope.fixture.ts";

const sandbox = createQuickjsSandbox({ cpuMs: 300, threads: 1, maxWaiting: 1 });
const tool = runJavascriptTool(builtinTool("run_javascript"), { sandbox }, scopeOf("usr_a"));
afterAll(() => sandbox.close());

test("returns the value, then the logs", async () => {
  expect(await execute(tool, { code: "[1, 2].map((n) => n * 2)" })).toEqual({ text: "[2,4]", isError: false });
  expect(await execute(tool, { code: "console.log('a', 1); console.log('b'); 3" })).toEqual({
    text: "3\n\nLogged:\na 1\nb",
    isError: false,
  });
});

test("reports an error", async () => {
  const { text, isError } = await execute(tool, { code: "console.log('before'); missing()" });
  expect(isError).toBe(true);
  expect(text).toMatch(/^ReferenceError: 'missing' is not defined[\s\S]*Logged:\nbefore$/);
  expect(await execute(tool, { code: "for (;;);" })).toEqual({
    text: "The program took more than 0.3 s of processor time and was stopped",
    isError: true,
  });
});

test("reports a full queue, and rejects on abort", async () => {
  const controller = new AbortController();
  const running = execute(tool, { code: "for (;;);" }, controller.signal);
  const waiting = execute(tool, { code: "1" });
  expect(await execute(tool, { code: "2" })).toEqual({
    text: "Too many programs of the same user wait to be run. The program did not run. Try again later.",
    isError: true,
  });
  // Another user has an empty queue.
  const others = execute(runJavascriptTool(builtinTool("run_javascript"), { sandbox }, scopeOf("usr_b")), {
    code: "3",
  });
  controller.abort(new Error("cancelled"));
  await expect(running).rejects.toThrow("cancelled");
  expect(await waiting).toEqual({ text: "1", isError: false });
  expect(await others).toEqual({ text: "3", isError: false });
});
