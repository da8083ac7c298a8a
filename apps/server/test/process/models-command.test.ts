import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../support/gantry.ts";
import { gantryCommand } from "../support/gantry-command.ts";
import { type ScriptedOllama, startScriptedOllama } from "../support/scripted-ollama.ts";

let gantry: GantryNode;
let ollama: ScriptedOllama;
beforeAll(async () => {
  gantry = await startGantry();
  ollama = await startScriptedOllama([
    { name: "llama3.2:3b" },
    { name: "nomic-embed-text:latest", capabilities: ["embedding"] },
  ]);
});
afterAll(async () => {
  await gantry.close();
  await ollama.close();
});

const settings = (key = gantry.adminKey) => ({ GANTRY_URL: gantry.url, GANTRY_KEY: key });
const models = (args: string[], { key, input, env = {} }: { key?: string; input?: string; env?: object } = {}) =>
  gantryCommand(["models", ...args], { ...settings(key), ...env }, [], input);

test("connects, tests and imports with options alone", async () => {
  const key = await gantry.newUser("ann");
  const connected = await models(["connect", "--type", "ollama", "--url", ollama.url], { key });
  expect([connected.code, connected.stderr]).toEqual([0, ""]);
  expect(connected.stdout).toContain("has 2 models.");
  expect(connected.stdout).toMatch(/llama3\.2:3b +text, context 131072/);
  expect(connected.stdout).toContain("gantry models import ollama --all");

  const tested = await models(["test", "ollama", "--json"], { key });
  expect([tested.code, JSON.parse(tested.stdout)]).toMatchObject([0, { ok: true }]);

  const imported = await models(["import", "ollama", "--all"], { key });
  expect([imported.code, imported.stdout]).toEqual([
    0,
    "ann/llama3.2-3b: imported\nann/nomic-embed-text-latest: imported\n",
  ]);
  await gantry.call("PATCH", "/api/v1/ann/llama3.2-3b", { key, json: { title: "Ours" } });
  const again = await models(["import", "ollama"], { key });
  expect([again.code, again.stdout]).toEqual([
    0,
    "ann/llama3.2-3b: unchanged\n  kept your changes: title\nann/nomic-embed-text-latest: unchanged\n",
  ]);

  const unknown = await models(["import", "ollama", "no-such-model", "--json"], { key });
  expect(unknown.code).toBe(1);
  expect(JSON.parse(unknown.stdout).results).toMatchObject([{ id: "no-such-model", outcome: "failed" }]);
}, 60_000);

test("takes a key from stdin or a variable, and prices for everyone", async () => {
  const url = `${ollama.url}/v1`;
  const connect = ["connect", "--type", "openai", "--url", url, "--everyone", "--json"];
  const connected = await models([...connect, "--key-stdin"], { input: "sk-from-stdin\n" });
  expect(connected.code, connected.stderr).toBe(0);
  expect(JSON.parse(connected.stdout)).toMatchObject({
    provider: { name: "openai", owner: "gantry", secret: "openai" },
    test: { ok: true },
    models: [{ id: "llama3.2:3b" }, { id: "nomic-embed-text:latest" }],
  });
  expect(ollama.seen.at(-1)?.headers.authorization).toBe("Bearer sk-from-stdin");

  const unpriced = await models(["import", "openai", "llama3.2:3b", "--everyone"]);
  expect([unpriced.code, unpriced.stdout]).toEqual([1, ""]);
  expect(unpriced.stderr).toContain("price");
  const prices = ["--price-in", "0.5", "--price-out", "2"];
  const priced = await models(["import", "openai", "llama3.2:3b", "--everyone", ...prices]);
  expect([priced.code, priced.stdout]).toEqual([0, "gantry/llama3.2-3b: imported\n"]);
  expect((await gantry.call("GET", "/api/v1/gantry/llama3.2-3b")).body.pricing).toEqual({
    per_million_input_tokens: 0.5,
    per_million_output_tokens: 2,
  });

  // The same name again replaces the key in its secret.
  const env = { VENDOR_KEY: "sk-from-variable" };
  const again = await models([...connect, "--name", "openai", "--key-env", "VENDOR_KEY"], { env });
  expect(again.code, again.stderr).toBe(0);
  expect(ollama.seen.at(-1)?.headers.authorization).toBe("Bearer sk-from-variable");
  expect((await gantry.call("GET", "/api/v2/admin/secrets")).body.total_count).toBe(1);
}, 60_000);

test("says in a line what is wrong", async () => {
  const key = await gantry.newUser("bob");
  const down = await models(["connect", "--type", "ollama", "--url", "http://127.0.0.1:9"], { key });
  expect([down.code, down.stdout]).toEqual([1, ""]);
  expect(down.stderr).toMatch(
    /^Nothing listens at http:\/\/127\.0\.0\.1:9\..*\nollama is saved\..* models test ollama\n$/,
  );

  const refused = [
    await models(["test", "unknown"], { key }),
    await models(["test", "ollama", "--everyone"], { key }),
    await models(["test", "ollama"], { key: "wrong" }),
  ];
  expect(refused.map(({ code }) => code)).toEqual([1, 1, 1]);
  expect(refused[2]?.stderr).toBe("The API key is missing or invalid. Run gantry login, or set GANTRY_KEY.\n");
  const wrong = [
    await models(["connect"], { key }),
    await models(["connect", "--type", "toaster"], { key }),
    await models(["connect", "--type", "vllm"], { key }),
    await models(["connect", "--type", "openai"], { key }),
    await models(["connect", "--type", "openai", "--key-env", "NOT_SET"], { key }),
    await models(["connect", "--type", "openai", "--key", "sk-visible"], { key }),
    await models(["import"], { key }),
    await models(["import", "x", "--all", "--price-in", "cheap"], { key }),
    await models(["test"], { key }),
  ];
  expect(wrong.map(({ code }) => code)).toEqual(wrong.map(() => 2));
  for (const { stdout, stderr } of [...refused, ...wrong]) {
    expect([stdout, stderr.trim().split("\n").length]).toEqual(["", 1]);
  }
  const help = await models(["import", "--help"]);
  expect([help.code, help.stdout]).toEqual([0, expect.stringContaining("gantry models import NAME [ID...]")]);
  const family = await models([]);
  expect([family.code, family.stderr]).toEqual([2, expect.stringContaining("gantry models test NAME")]);
}, 120_000);

const cli = fileURLToPath(new URL("../../../../packages/cli/src/main.ts", import.meta.url));

/** Runs the command in a terminal and answers its questions. Returns what the terminal showed. */
function inTerminal(args: string[], key: string, answers: readonly (readonly [question: string, typed: string])[]) {
  const line = [process.execPath, cli, ...args].map((word) => `'${word}'`).join(" ");
  const child = spawn("script", ["-qfec", line, "/dev/null"], {
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", TERM: "dumb", ...settings(key) },
  });
  let shown = "";
  let asked = 0;
  const left = [...answers];
  child.stdout.on("data", (chunk) => {
    shown += chunk;
    const [next] = left;
    const at = next === undefined ? -1 : shown.indexOf(next[0], asked);
    if (next === undefined || at === -1) return;
    asked = at + next[0].length;
    left.shift();
    child.stdin.write(`${next[1]}\r`);
  });
  return new Promise<{ code: number | null; shown: string }>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, shown }));
  });
}

test("asks in a terminal, and does not show the key", async () => {
  const key = await gantry.newUser("carl");
  const { code, shown } = await inTerminal(["models", "connect"], key, [
    ["Number or type", "1"],
    ["Address", `${ollama.url}/v1`],
    ["API key", "sk-typed-in-secret"],
    ["Models to import", "9"],
    ["Models to import", "1"],
  ]);
  expect(code, shown).toBe(0);
  expect(shown).toContain("No model 9.");
  expect(shown).toContain("carl/llama3.2-3b: imported");
  expect(shown).not.toContain("sk-typed-in-secret");
  expect(ollama.seen.some(({ headers }) => headers.authorization === "Bearer sk-typed-in-secret")).toBe(true);
}, 60_000);
