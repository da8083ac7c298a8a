import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type ScriptedOllama, startScriptedOllama } from "../support/scripted-ollama.ts";
import { adminKey, endEverything, type ServerProcess, startServer } from "./server-process.ts";

/** A default start, but with a port of its own for Ollama. */
const servers: ServerProcess[] = [];
const homes: string[] = [];
const open: ScriptedOllama[] = [];

afterAll(async () => {
  await endEverything(servers, homes);
  for (const ollama of open) await ollama.close();
  for (const home of homes) await rm(home, { recursive: true, force: true });
});

async function newHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "gantry-found-"));
  homes.push(home);
  return home;
}

async function start(home: string, port: number, env: Record<string, string> = {}) {
  const server = startServer({
    GANTRY_HOME: home,
    GANTRY_ADMIN_KEY: adminKey,
    GANTRY_FIND_MODELS: "1",
    GANTRY_ALLOW_PRIVATE_NETWORK: "0",
    OLLAMA_HOST: `127.0.0.1:${port}`,
    ...env,
  });
  servers.push(server);
  const url = await server.url();
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(url + path, {
      method,
      headers: { "x-api-key": adminKey, ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, text, body: text.startsWith("{") ? JSON.parse(text) : undefined };
  };
  const ask = async (model: string) => {
    const form = new FormData();
    form.append("prompt", "hi");
    const options = { method: "POST", headers: { "x-api-key": adminKey }, body: form };
    return (await fetch(`${url}/api/v1/${model}/predict/stream/`, options)).text();
  };
  const stop = async () => {
    server.kill("SIGTERM");
    await server.exit;
  };
  return { server, call, ask, stop };
}

async function ollamaWith(...names: string[]): Promise<ScriptedOllama> {
  const ollama = await startScriptedOllama(names.map((name) => ({ name })));
  open.push(ollama);
  return ollama;
}

test("a laptop with Ollama has a language model and working agents after the first start", async () => {
  const home = await newHome();
  const ollama = await ollamaWith("llama3.2:3b", "nomic-embed-text");
  ollama.models[1] = { name: "nomic-embed-text", capabilities: ["embedding"] };
  const first = await start(home, ollama.port);
  expect(first.server.stdout()).toContain(
    `Found Ollama at ${ollama.url} with 2 models: anthropic/default and gantry/text use llama3.2:3b.\n` +
      "Import more in the console under Models → Connect a model.\n",
  );
  for (const model of ["anthropic/default", "gantry/text"]) {
    const { body } = await first.call("GET", `/api/v1/${model}`);
    expect(body).toMatchObject({ context_window: 131_072, backend: { type: "openai-chat", model: "llama3.2:3b" } });
    expect(body.description).toContain("Answers come from Ollama on the server's machine (llama3.2:3b).");
  }
  expect((await first.call("GET", "/api/v1/anthropic/default")).body.pricing).toEqual({});
  ollama.llm.script = () => ({ text: "Hello there" });
  expect(await first.ask("anthropic/default")).toContain("there");

  // An agent with a tool.
  ollama.llm.script = (_, n) =>
    n === 2 ? { calls: [{ name: "run_javascript", args: { code: "6 * 7" } }] } : { text: "It is 42." };
  const agent = await first.call("POST", "/v1/agents", { name: "A", goal: "Compute.", tools: ["run_javascript"] });
  expect(agent.status, agent.text).toBe(201);
  await first.call("POST", `/v1/agents/${agent.body.id}/publish`, {});
  const run = await first.call("POST", `/v1/agents/${agent.body.id}/runs`, { input: {}, wait: 30 });
  expect(run.body, run.text).toMatchObject({ status: "done", output: { text: "It is 42." } });
  const events = (await first.call("GET", `/v1/runs/${run.body.id}/events/list`)).text;
  expect(events).toContain("anthropic/default uses llama3.2:3b on the server's machine.");
  expect(ollama.llm.requests.at(-1)?.messages.find(({ role }) => role === "tool")?.content).toContain("42");

  // The found server is a provider of the operator, whose models work although private addresses are refused.
  const providers = await first.call("GET", "/api/v2/admin/providers");
  expect(providers.body.results).toMatchObject([{ name: "ollama", source: "found", url: ollama.url, owner: "gantry" }]);
  expect((await first.call("DELETE", "/api/v2/admin/providers/ollama")).status).toBe(409);
  const path = "/api/v2/admin/providers/ollama/import";
  const imported = await first.call("POST", path, { models: [{ id: "llama3.2:3b" }] });
  expect(imported.body.results, imported.text).toMatchObject([{ endpoint_id: "gantry/llama3.2-3b" }]);
  expect(await first.ask("gantry/llama3.2-3b")).toContain("42");
  const own = { type: "ollama", url: ollama.url };
  await first.call("PUT", "/api/v2/providers/mine", own);
  expect((await first.call("POST", "/api/v2/providers/mine/discover")).status).toBe(502);
  await first.call("PUT", "/api/v2/admin/providers/mine", own);
  expect((await first.call("POST", "/api/v2/admin/providers/mine/discover")).status).toBe(502);

  // Stopped while Gantry runs.
  await ollama.close();
  expect(await first.ask("gantry/text")).toContain(
    "Ollama on the server's machine is not running. The operator can start it with `ollama serve`.",
  );
  await first.stop();

  // Gone at the next start.
  const second = await start(home, ollama.port);
  expect(second.server.stdout()).not.toContain("Found");
  for (const model of ["anthropic/default", "gantry/text"]) {
    expect((await second.call("GET", `/api/v1/${model}`)).body).toMatchObject({
      context_window: 32_000,
      backend: { type: "builtin", model: "rules" },
    });
  }
  // Its imported model works again as soon as the server does.
  expect(await second.ask("gantry/llama3.2-3b")).toContain("Ollama on the server's machine is not running");
  const back = await startScriptedOllama([{ name: "llama3.2:3b" }], ollama.port);
  open.push(back);
  back.llm.script = () => ({ text: "Back again" });
  expect(await second.ask("gantry/llama3.2-3b")).toContain("again");
  await second.stop();
}, 120_000);

test("GANTRY_LLM_MODEL chooses among found models, and a vendor's key keeps anthropic/default", async () => {
  const home = await newHome();
  const ollama = await ollamaWith("big:70b", "small");
  const { server, call, stop } = await start(home, ollama.port, {
    GANTRY_LLM_MODEL: "small",
    ANTHROPIC_API_KEY: "sk-ant-none",
  });
  expect(server.stdout()).toContain("with 2 models: gantry/text uses small.");
  expect((await call("GET", "/api/v1/anthropic/default")).body.backend).toMatchObject({ type: "anthropic" });
  expect((await call("GET", "/api/v1/gantry/text")).body.backend).toMatchObject({ model: "small" });
  await stop();
  const off = await start(home, ollama.port, { GANTRY_FIND_MODELS: "0" });
  expect(off.server.stdout()).not.toContain("Found");
  expect((await off.call("GET", "/api/v1/gantry/text")).body.backend).toMatchObject({ type: "builtin" });
  await off.stop();
}, 120_000);

test("what is not such a server is not found", async () => {
  const home = await newHome();
  const { server, stop } = await start(home, 9);
  expect(server.stdout()).not.toContain("Found");
  await stop();
}, 60_000);
