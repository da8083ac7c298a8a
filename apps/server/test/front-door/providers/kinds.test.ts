import { afterAll, beforeAll, expect, test } from "vitest";
import { textToImage } from "../../../src/engines/models/comfyui/workflow.fixture.ts";
import { png } from "../../../src/engines/models/media/backend.contract.ts";
import { startComfyui } from "../../../src/engines/models/test-upstreams/comfyui-server.ts";
import { providerScripts } from "../../../src/engines/models/test-upstreams/providers/all-providers.ts";
import { startProvider } from "../../../src/engines/models/test-upstreams/providers/provider-server.ts";
import { jsonReply, startScripted } from "../../../src/engines/models/test-upstreams/scripted-server.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { waitFor } from "../../support/wait-for.ts";

let gantry: GantryNode;
const key = "the-key-of-the-server";

beforeAll(async () => {
  gantry = await startGantry();
  await gantry.call("PUT", "/api/v2/secrets/upstream", { json: { value: key } });
  await gantry.call("PUT", "/api/v2/admin/secrets/upstream", { json: { value: key } });
});
afterAll(() => gantry.close());

interface Found {
  id: string;
  kind: string;
  pricing: object | null;
}

async function discover(provider: string, base = "/api/v2/providers"): Promise<Found[]> {
  const { status, text, body } = await gantry.call("POST", `${base}/${provider}/discover`);
  expect(status, text).toBe(200);
  return body.models;
}

test.each(providerScripts.map((script) => [script.type, script] as const))(
  "%s: test, discover and import everything",
  async (type, script) => {
    const server = await startProvider(script, key);
    const url = new URL(script.address, server.url).href;
    const saved = await gantry.call("PUT", `/api/v2/providers/${type}`, { json: { type, url, secret: "upstream" } });
    expect(saved.status, saved.text).toBe(201);
    const tested = await gantry.call("POST", `/api/v2/providers/${type}/test`);
    expect(tested.body, tested.text).toMatchObject({ ok: true });
    const found = await discover(type);
    expect(found.length).toBeGreaterThan(0);
    const models = found.map(({ id }, n) => ({ id, name: `${type}-${n}` }));
    const imported = await gantry.call("POST", `/api/v2/providers/${type}/import`, { json: { models } });
    for (const result of imported.body.results) expect(result).toMatchObject({ outcome: "created", message: null });
    const again = await gantry.call("POST", `/api/v2/providers/${type}/import`);
    for (const result of again.body.results) expect(result).toMatchObject({ outcome: "unchanged", kept: [] });
    for (const [n, { kind, pricing }] of found.entries()) {
      const { body } = await gantry.call("GET", `/api/v1/admin/${type}-${n}`);
      expect(body).toMatchObject({ kind, pricing: pricing ?? {}, visibility: "private" });
      expect(JSON.stringify(body)).not.toContain(key);
    }
    await server.close();
  },
);

test("OpenRouter's prices are the operator's, and free models stay free", async () => {
  const script = providerScripts.find(({ type }) => type === "openrouter") ?? expect.fail();
  const server = await startProvider(script, key);
  const json = { type: "openrouter", url: `${server.url}/api/v1`, secret: "upstream" };
  const path = "/api/v2/admin/providers/router";
  await gantry.call("PUT", path, { json });
  const found = await discover("router", "/api/v2/admin/providers");
  const priced = found.find(({ pricing }) => pricing !== null && Object.values(pricing).some((price) => price > 0));
  const [created] = (await gantry.call("POST", `${path}/import`, { json: { models: [{ id: priced?.id }] } })).body
    .results;
  expect(created).toMatchObject({ outcome: "created" });
  const { body } = await gantry.call("GET", `/api/v1/${created.endpoint_id}`);
  expect(body).toMatchObject({ pricing: priced?.pricing, visibility: "public" });
  await server.close();
});

test("a ComfyUI's recent workflow becomes a model that paints", async () => {
  const comfy = await startComfyui(key);
  comfy.made.bytes = png;
  comfy.addForeign(textToImage);
  await waitFor("the workflow to run", () => comfy.history.size > 0);
  const path = "/api/v2/providers/comfy";
  await gantry.call("PUT", path, { json: { type: "comfyui", url: comfy.url, secret: "upstream" } });
  expect((await gantry.call("POST", `${path}/test`)).body).toMatchObject({ ok: true });
  const [workflow] = await discover("comfy");
  expect(workflow).toMatchObject({ kind: "image" });
  const models = [{ id: workflow?.id, name: "painter" }];
  const imported = await gantry.call("POST", `${path}/import`, { json: { models } });
  expect(imported.body.results, imported.text).toMatchObject([{ outcome: "created", endpoint_id: "admin/painter" }]);
  expect((await gantry.call("POST", `${path}/import`)).body.results).toMatchObject([{ outcome: "unchanged" }]);
  const painted = await gantry.call("POST", "/api/v1/admin/painter/predict", { form: { prompt: "a boat" } });
  expect(painted.status, painted.text).toBe(200);
  comfy.restart();
  expect((await gantry.call("POST", `${path}/import`)).body.results).toMatchObject([{ outcome: "gone" }]);
  await comfy.close();
});

const cogDocument = {
  openapi: "3.0.2",
  components: {
    schemas: {
      Input: {
        type: "object",
        required: ["image"],
        properties: { image: { type: "string", format: "uri", "x-order": 0 }, scale: { type: "integer", default: 2 } },
      },
      Output: { type: "string", format: "uri" },
    },
  },
};

test("a Cog container becomes a model with its own inputs", async () => {
  const cog = await startScripted(({ path, headers }) =>
    path === "/openapi.json" && headers["x-gate"] === key ? jsonReply(cogDocument) : jsonReply({}, 404),
  );
  const path = "/api/v2/providers/upscaler";
  await gantry.call("PUT", path, { json: { type: "cog", url: cog.url } });
  const refused = await gantry.call("POST", `${path}/discover`);
  expect(refused.status).toBe(502);
  expect(refused.body.detail[0].msg).toContain("does not describe a Cog model at /openapi.json");
  const headers = { "x-gate": "{{secret:upstream}}" };
  await gantry.call("PUT", path, { json: { type: "cog", url: cog.url, headers } });
  const [model] = await discover("upscaler");
  expect(model).toMatchObject({ id: "upscaler", name: "upscaler", imported: null });
  const imported = await gantry.call("POST", `${path}/import`, { json: { models: [{ id: "upscaler" }] } });
  expect(imported.body.results, imported.text).toMatchObject([{ outcome: "created", endpoint_id: "admin/upscaler" }]);
  const { body } = await gantry.call("GET", "/api/v1/admin/upscaler");
  expect(body).toMatchObject({ capacity: 1, backend: { type: "cog", url: cog.url, headers } });
  expect(Object.keys(body.input.properties)).toEqual(["image", "scale"]);
  await cog.close();
  const gone = await gantry.call("POST", `${path}/discover`);
  expect(gone.status, gone.text).toBe(503);
});
