import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readConfig } from "../../../src/config/config.ts";
import { outside, startProxy, type TestProxy } from "../../../src/engines/net/egress-proxy.fixture.ts";
import { startGantry } from "../../support/gantry.ts";

const upstream = createServer((request, response) => {
  request.resume().on("end", () => response.end(JSON.stringify({ status: "succeeded", output: "from outside" })));
});
let proxy: TestProxy;

beforeAll(async () => {
  upstream.listen(0, "127.0.0.1");
  await once(upstream, "listening");
  proxy = await startProxy();
  proxy.target = (upstream.address() as AddressInfo).port;
});
afterAll(() => {
  proxy.close();
  upstream.closeAllConnections();
  upstream.close();
});

test("a public backend is called through GANTRY_EGRESS_PROXY", async () => {
  const gantry = await startGantry({ env: { GANTRY_EGRESS_PROXY: proxy.address } });
  try {
    const text = { type: "string" };
    const made = await gantry.call("PUT", "/api/v1/admin/outside", {
      json: {
        title: "Outside",
        description: "Behind the proxy.",
        kind: "other",
        visibility: "private",
        capacity: 1,
        pricing: {},
        input: { type: "object", required: ["prompt"], properties: { prompt: text } },
        output: { type: "object", required: ["output"], properties: { output: text } },
        backend: { type: "cog", url: `http://${outside}` },
      },
    });
    expect([200, 201], made.text).toContain(made.status);
    const answer = await gantry.call("POST", "/api/v1/admin/outside/predict", { form: { prompt: "x" } });
    expect([answer.status, answer.body.output_data.output], answer.text).toEqual([200, "from outside"]);
    expect(proxy.asked).toEqual([{ target: `${outside}:80`, authorization: undefined }]);
  } finally {
    await gantry.close();
  }
});

test("an address that is not a proxy is refused at the start", () => {
  for (const address of ["https://proxy:3128", "socks5://proxy:1080", "http://proxy:3128/path", "proxy:3128"]) {
    expect(() => readConfig({ GANTRY_EGRESS_PROXY: address }, ".")).toThrow("GANTRY_EGRESS_PROXY must");
  }
  expect(readConfig({ GANTRY_EGRESS_PROXY: "http://user:p%40ss@proxy:3128/" }, ".").GANTRY_EGRESS_PROXY).toBe(
    "http://user:p%40ss@proxy:3128",
  );
});
