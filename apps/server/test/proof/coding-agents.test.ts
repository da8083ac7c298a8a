import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../support/gantry.ts";
import { agentModel, createModels } from "../support/models.ts";
import { provideNpmProgram } from "../support/npm-programs.ts";
import { type ScriptedLlm, startScriptedLlm } from "../support/scripted-llm.ts";

const codex = await provideNpmProgram({
  name: "Codex",
  packageName: "@openai/codex@0.169.0",
  path: "@openai/codex/bin/codex.js",
});
const opencode = await provideNpmProgram({
  name: "opencode",
  // The newest version that the registry has for both processors.
  packageName: `opencode-linux-${process.arch}@1.18.18`,
  path: `opencode-linux-${process.arch}/bin/opencode`,
});

let gantry: GantryNode;
let llm: ScriptedLlm;
let folder: string;
let work: string;
/** Hosts that the programs tried to reach. */
const strangers: string[] = [];
const proxy = createServer((_, response) => response.writeHead(403).end());
proxy.on("connect", (request, socket) => {
  strangers.push(request.url ?? "");
  socket.on("error", () => {});
  socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "gantry-coding-"));
  [gantry, llm] = await Promise.all([startGantry(), startScriptedLlm()]);
  await createModels(gantry, { coder: agentModel(llm.url, { context_window: 200_000 }) });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  await Promise.all([gantry?.close(), llm?.close()]);
  proxy.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  work = await mkdtemp(join(folder, "work-"));
  llm.requests.length = 0;
  strangers.length = 0;
});

/** Writes a file with the tool, reads the tool's result, and ends. Other requests, such as for a title, get a text. */
function writeOneFile(toolName: string, args: object): void {
  llm.script = ({ messages, tools = [] }) => {
    const isTool = tools.some((tool) => tool.function.name === toolName);
    if (!isTool || messages.some(({ role }) => role === "tool")) return { text: "The file is written." };
    return { reasoning: "A file is needed.", calls: [{ name: toolName, args }] };
  };
}

interface Ended {
  code: number | null;
  output: string;
}

async function start(program: string, args: readonly string[], env: Record<string, string>): Promise<Ended> {
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const home = join(work, "home");
  await mkdir(home, { recursive: true });
  const child = spawn(program, args, {
    cwd: work,
    env: {
      ...{ PATH: process.env.PATH, HOME: home, TMPDIR: folder, NO_COLOR: "1" },
      ...{ HTTP_PROXY: address, HTTPS_PROXY: address, ALL_PROXY: address, NO_PROXY: "127.0.0.1,localhost" },
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 120_000,
  });
  const exit = new Promise<number | null>((resolve, reject) => child.on("error", reject).on("close", resolve));
  const [out, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), exit]);
  return { code, output: `${out}\n${errors}` };
}

async function runCodex(key: string, provider = ""): Promise<Ended> {
  const home = join(work, "codex");
  await mkdir(home);
  const config = `
model = "admin/coder"
model_provider = "gantry"
check_for_update_on_startup = false
[analytics]
enabled = false
[feedback]
enabled = false
[features]
apps = false
plugins = false
[model_providers.gantry]
name = "Gantry"
base_url = "${gantry.url}/v1"
wire_api = "responses"
env_key = "GANTRY_KEY"
${provider}
`;
  await writeFile(join(home, "config.toml"), config);
  // The script decides what is run, and not every machine that tests has the kernel's sandbox.
  const flags = ["exec", "--skip-git-repo-check", "--sandbox", "danger-full-access"];
  return start(process.execPath, [codex ?? "", ...flags, "Write made.txt"], { CODEX_HOME: home, GANTRY_KEY: key });
}

async function runOpencode(key: string, provider: object): Promise<Ended> {
  const config = {
    autoupdate: false,
    share: "disabled",
    model: "gantry/admin/coder",
    provider: { gantry: { name: "Gantry", models: { "admin/coder": { name: "Coder" } }, ...provider } },
  };
  await writeFile(join(work, "opencode.json"), JSON.stringify(config));
  return start(opencode ?? "", ["run", "--pure", "Write made.txt"], {
    ...{ GANTRY_KEY: key, OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" },
    ...{ OPENCODE_DISABLE_LSP_DOWNLOAD: "1", OPENCODE_DISABLE_DEFAULT_PLUGINS: "1" },
  });
}

const made = () => readFile(join(work, "made.txt"), "utf8");

async function usageOf(key: string) {
  const { body } = await gantry.call("GET", "/api/v2/usage", { key });
  return (body.results as { door: string; route: string; status: number; price: number }[]).map(
    ({ door, route, status, price }) => ({ door, route, status, isPaid: price > 0 }),
  );
}

test.runIf(codex)("Codex writes a file through Responses, and each step is paid", async () => {
  const key = await gantry.newUser("codex");
  writeOneFile("exec_command", { cmd: "printf 'hello from codex' > made.txt" });
  const { code, output } = await runCodex(key);
  expect(code, output).toBe(0);
  expect(output).toContain("The file is written.");
  expect(await made()).toBe("hello from codex");
  const step = { door: "openai-responses", route: "stream", status: 200, isPaid: true };
  expect(await usageOf(key)).toEqual([step, step]);
  expect(strangers).toEqual([]);
});

test.runIf(codex)("Codex shows why it cannot go on", async () => {
  const key = await gantry.newUser("poor-codex", { credit: -1 });
  // Codex repeats refused requests otherwise.
  const { code, output } = await runCodex(key, "stream_max_retries = 0");
  expect(code, output).not.toBe(0);
  expect(output).not.toContain("Reconnecting");
  expect(output).toMatch(/Insufficient funds/i);
  expect(llm.requests).toEqual([]);
});

test.runIf(opencode).each([
  ["Chat Completions", "openai-chat", "@ai-sdk/openai-compatible"],
  ["Messages", "anthropic-messages", "@ai-sdk/anthropic"],
])("opencode writes a file through %s, and each step is paid", async (_, door, npm) => {
  const key = await gantry.newUser(`opencode-${door}`);
  writeOneFile("write", { filePath: join(work, "made.txt"), content: "hello from opencode" });
  const options = { baseURL: `${gantry.url}/v1`, apiKey: "{env:GANTRY_KEY}" };
  const { code, output } = await runOpencode(key, { npm, options });
  expect(code, output).toBe(0);
  expect(output).toContain("The file is written.");
  expect(await made()).toBe("hello from opencode");
  const rows = await usageOf(key);
  // One more call gives the session a title.
  expect(rows.length).toBeGreaterThanOrEqual(2);
  for (const row of rows) expect(row).toEqual({ door, route: "stream", status: 200, isPaid: true });
  // opencode looks for its plugin package, and works without.
  expect(strangers.filter((host) => host !== "registry.npmjs.org:443")).toEqual([]);
});
