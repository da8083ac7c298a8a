import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../support/gantry.ts";
import { startScriptedLlm } from "../support/scripted-llm.ts";

const examples = new URL("../../../../examples/", import.meta.url);

async function read(folder: string): Promise<[name: string, body: Record<string, unknown>][]> {
  const files = await readdir(new URL(folder, examples));
  return Promise.all(
    files.map(async (file) => [
      file.replace(/\.json$/, ""),
      JSON.parse(await readFile(new URL(`${folder}/${file}`, examples), "utf8")),
    ]),
  );
}

const models = await read("models");
const agents = await read("agents");
const cogSchema = {
  components: {
    schemas: {
      Input: { type: "object", required: ["scale"], properties: { scale: { type: "integer", default: 2 } } },
      Output: { type: "string", format: "uri" },
    },
  },
};
const cog = createServer((request, response) => {
  request.resume();
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(cogSchema));
});
let gantry: GantryNode;

beforeAll(async () => {
  await new Promise<void>((resolve) => cog.listen(0, "127.0.0.1", resolve));
  gantry = await startGantry();
});
afterAll(async () => {
  await gantry.close();
  cog.close();
});

describe("examples/models", () => {
  test("has one for every backend that is not built in", () => {
    const types = models.map(([, manifest]) => (manifest.backend as { type: string }).type);
    expect([...new Set(types)].toSorted()).toEqual(
      [
        "anthropic",
        "ark-images",
        "cog",
        "comfyui",
        "gantry",
        "google",
        "openai-chat",
        "openai-embeddings",
        "openai-images",
      ].toSorted(),
    );
  });

  test.each(models)("%s is a manifest, and its model describes itself", async (name, manifest) => {
    const backend = manifest.backend as { type: string; url?: string };
    const port = (cog.address() as AddressInfo).port;
    const json =
      backend.type === "cog" ? { ...manifest, backend: { ...backend, url: `http://127.0.0.1:${port}` } } : manifest;
    const put = await gantry.call("PUT", `/api/v1/admin/${name}`, { json });
    expect(put.status, put.text).toBe(201);
    const openapi = await gantry.call("GET", `/api/v1/admin/${name}/openapi.json`);
    expect([openapi.status, openapi.body.openapi]).toEqual([200, "3.1.0"]);
  });

  test("names only secrets that can be stored", async () => {
    for (const [, manifest] of models) {
      const { secret } = manifest.backend as { secret?: string };
      if (secret === undefined) continue;
      const put = await gantry.call("PUT", `/api/v2/secrets/${secret}`, { json: { value: "sk-of-a-test-01" } });
      expect([200, 201], put.text).toContain(put.status);
    }
  });
});

describe("examples/agents", () => {
  test.each(agents)("%s is saved without a warning, and published", async (_, json) => {
    const created = await gantry.call("POST", "/v1/agents", { json });
    expect([created.status, created.body.warnings], created.text).toEqual([201, []]);
    const published = await gantry.call("POST", `/v1/agents/${created.body.id}/publish`);
    expect(published.status, published.text).toBe(200);
  });

  test("input schemas have no default, because runs do not apply defaults", () => {
    for (const [name, { input_schema }] of agents)
      expect(JSON.stringify(input_schema), name).not.toContain('"default"');
  });

  test("the page reader's goal has the question of its input, if there is one", async () => {
    const llm = await startScriptedLlm(() => ({ text: '{"title": "A page", "summary": "It is about ships."}' }));
    try {
      const [, chat] = models.find(([name]) => name === "openai-chat") ?? [];
      const backend = { type: "openai-chat", url: llm.url, model: "test" };
      const put = await gantry.call("PUT", "/api/v1/admin/reader", { json: { ...chat, backend } });
      expect(put.status, put.text).toBe(201);
      const [, json] = agents.find(([name]) => name === "page-reader") ?? [];
      const { body: agent } = await gantry.call("POST", "/v1/agents", { json: { ...json, model: "admin/reader" } });
      await gantry.call("POST", `/v1/agents/${agent.id}/publish`);
      const goals: string[] = [];
      for (const input of [
        { url: "https://example.com/" },
        { url: "https://example.com/", question: "Which ships?" },
      ]) {
        llm.requests.length = 0;
        const run = await gantry.call("POST", `/v1/agents/${agent.id}/runs`, { json: { input, wait: 30 } });
        expect(run.body, run.text).toMatchObject({ status: "done", output: { title: "A page" } });
        const prompt = llm.requests[0]?.messages.map(({ content }) => content ?? "").join("\n") ?? "";
        goals.push(/Fetch .*/.exec(prompt)?.[0] ?? "");
      }
      expect(goals).toEqual([
        "Fetch https://example.com/ with http_request and say what the page is about.",
        "Fetch https://example.com/ with http_request and say what the page is about, for a reader who asks: Which ships?",
      ]);
    } finally {
      await llm.close();
    }
  });

  test("the illustrator paints", async () => {
    const [, json] = agents.find(([name]) => name === "illustrator") ?? [];
    const { body: agent } = await gantry.call("POST", "/v1/agents", { json });
    await gantry.call("POST", `/v1/agents/${agent.id}/publish`);
    const run = await gantry.call("POST", `/v1/agents/${agent.id}/runs`, {
      json: { input: { scene: "a lighthouse at dusk" }, wait: 30 },
    });
    expect(run.body, run.text).toMatchObject({ status: "done", cost: 0.03 });
    expect(JSON.stringify(run.body.output)).toMatch(/s3:\/\/gantry\/outputs\/pred_\w+\/file_\w+\/image\.jpg/);
  });
});
