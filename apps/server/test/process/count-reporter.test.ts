import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const checkout = fileURLToPath(new URL("../../../..", import.meta.url));
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "gantry-closing-line-"));
  await writeFile(join(folder, "whole.test.mjs"), 'test("runs", () => {});');
  await writeFile(join(folder, "partial.test.mjs"), 'test("runs", () => {}); test.skip("does not run", () => {});');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function runVitest(CI: string, ...args: string[]): Promise<{ code: number; lastLine: string }> {
  const reporter = `--reporter=${join(checkout, "scripts", "count-reporter.mjs")}`;
  const program = join(checkout, "node_modules", "vitest", "vitest.mjs");
  const child = spawn(process.execPath, [program, "run", "--globals", "--root", folder, reporter, ...args], {
    env: { PATH: process.env.PATH, CI },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  const [code] = await once(child, "close");
  return { code, lastLine: output.trim().split("\n").at(-1) ?? "" };
}

test("a skipped test fails the run in CI, and only there", async () => {
  const counts = "2 passed, 0 failed, 1 skipped";
  expect(await runVitest("true")).toEqual({ code: 1, lastLine: counts });
  expect(await runVitest("")).toEqual({ code: 0, lastLine: counts });
  expect(await runVitest("true", "whole")).toEqual({ code: 0, lastLine: "1 passed, 0 failed, 0 skipped" });
}, 60_000);

test("tests that `-t` leaves out do not fail the run in CI", async () => {
  expect(await runVitest("true", "-t", "does not run")).toMatchObject({ code: 0 });
}, 60_000);
