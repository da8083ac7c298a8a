import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../support/gantry.ts";

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
const agents = (await read("agents")).filter(([name]) => !name.endsWith(".setup"));
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
  test("every agent and every field of its input is described, because the console offers them as templates", () => {
    for (const [name, { description, input_schema }] of agents) {
      expect(description, name).toBeTruthy();
      const { properties } = input_schema as { properties: Record<string, { description?: string }> };
      for (const [field, schema] of Object.entries(properties))
        expect(schema.description, `${name} ${field}`).toBeTruthy();
    }
  });

  test("input schemas have no default, because runs do not apply defaults", () => {
    for (const [name, { input_schema }] of agents)
      expect(JSON.stringify(input_schema), name).not.toContain('"default"');
  });
});
