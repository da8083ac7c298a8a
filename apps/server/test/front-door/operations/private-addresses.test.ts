import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

/** Refused private addresses name the setting that allows them. */
let gantry: GantryNode;
const allow = "The operator can allow it";
const setting = `${allow}: add 127.0.0.1:9 to GANTRY_ALLOW_PRIVATE_NETWORK`;
/** Callers of a model must not learn the address of its backend. */
const discreet = `${allow} in GANTRY_ALLOW_PRIVATE_NETWORK`;
const loopback = "http://127.0.0.1:9";

beforeAll(async () => {
  gantry = await startGantry({ env: { GANTRY_ALLOW_PRIVATE_NETWORK: "0" } });
});
afterAll(() => gantry.close());

test("a model call names it; the model itself is accepted", async () => {
  const text = { type: "string" };
  const put = await gantry.call("PUT", "/api/v1/admin/near", {
    json: {
      description: "Runs beside the server.",
      kind: "other",
      input: { type: "object", properties: { prompt: text } },
      output: { type: "object", properties: { output: text } },
      backend: { type: "cog", url: loopback },
    },
  });
  expect(put.status, put.text).toBe(201);
  const run = await gantry.call("POST", "/api/v1/admin/near/predict", { form: { prompt: "x" } });
  expect([run.status, run.body.detail[0].type]).toEqual([502, "downstream_service_error"]);
  expect(run.body.detail[0].msg).toContain(discreet);
  expect(run.body.detail[0].msg).not.toContain("127.0.0.1");
  expect(gantry.logged()).toContain(setting);
});

test("the import of a Cog container's schemas names it", async () => {
  const example = await readFile(new URL("../../../../../examples/models/cog.json", import.meta.url), "utf8");
  const { backend, ...manifest } = JSON.parse(example);
  const put = await gantry.call("PUT", "/api/v1/admin/cog", {
    json: { ...manifest, backend: { ...backend, url: loopback } },
  });
  expect(put.status).toBe(422);
  expect(put.body.detail[0].msg).toContain(discreet);
});

test("a tool server's refusal names it", async () => {
  const json = { name: "near", url: `${loopback}/mcp`, connection_type: "sse" };
  const refused = await gantry.call("POST", "/v1/mcp-servers", { json });
  expect(refused.status, refused.text).toBe(400);
  expect(refused.text).toContain(setting);
});

test("the file of an input names it", async () => {
  const file = { type: "string", format: "binary", "x-media": "image" };
  const put = await gantry.call("PUT", "/api/v1/admin/sees", {
    json: {
      description: "Looks at pictures.",
      kind: "other",
      input: { type: "object", properties: { image: file }, required: ["image"] },
      output: { type: "object", properties: { output: { type: "string" } } },
      backend: { type: "cog", url: loopback },
    },
  });
  expect(put.status, put.text).toBe(201);
  const run = await gantry.call("POST", "/api/v1/admin/sees/predict", { form: { image: `${loopback}/a.png` } });
  expect(run.body.detail[0]).toMatchObject({ type: "file_download_error", msg: expect.stringContaining(setting) });
});

test("a list opens what it names, and nothing else", async () => {
  const upstream = createServer((request, response) => {
    request.resume().on("end", () => response.end(JSON.stringify({ status: "succeeded", output: "from the rack" })));
  });
  upstream.listen(0, "127.0.0.1");
  await once(upstream, "listening");
  const { port } = upstream.address() as AddressInfo;
  const rack = await startGantry({ env: { GANTRY_ALLOW_PRIVATE_NETWORK: `10.20.0.0/16, 127.0.0.1:${port}` } });
  try {
    const text = { type: "string" };
    const answers = [];
    for (const [name, host] of [
      ["listed", `127.0.0.1:${port}`],
      ["unlisted", "127.0.0.1:9"],
      ["metadata", "169.254.169.254"],
    ]) {
      const json = {
        description: "In the rack.",
        kind: "other",
        input: { type: "object", properties: { prompt: text } },
        output: { type: "object", properties: { output: text } },
        backend: { type: "cog", url: `http://${host}` },
      };
      expect((await rack.call("PUT", `/api/v1/admin/${name}`, { json })).status).toBe(201);
      const run = await rack.call("POST", `/api/v1/admin/${name}/predict`, { form: { prompt: "x" } });
      answers.push(run.body.output_data?.output ?? run.body.detail[0].type);
    }
    expect(answers).toEqual(["from the rack", "downstream_service_error", "downstream_service_error"]);
  } finally {
    await rack.close();
    upstream.closeAllConnections();
    upstream.close();
  }
});
