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

async function predictOutside(env: Record<string, string>) {
  proxy.asked.length = 0;
  const gantry = await startGantry({ env });
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
    return { ...answer, logged: gantry.logged() };
  } finally {
    await gantry.close();
  }
}

test.each(["HTTP_PROXY", "http_proxy", "GANTRY_EGRESS_PROXY"])(
  "a public backend is called through %s",
  async (name) => {
    const answer = await predictOutside({ [name]: proxy.address });
    expect([answer.status, answer.body.output_data.output], answer.text).toEqual([200, "from outside"]);
    expect(proxy.asked).toEqual([{ target: `${outside}:80`, authorization: undefined }]);
  },
);

test.each<Record<string, string>>([
  { NO_PROXY: ".invalid" },
  { no_proxy: "example.com, *" },
  { GANTRY_EGRESS_PROXY: "off" },
])("%o ends the use of the proxy", async (env) => {
  const answer = await predictOutside({ HTTP_PROXY: proxy.address, ...env });
  expect([answer.status, answer.body.detail[0].type]).toEqual([503, "downstream_service_unavailable"]);
  expect(proxy.asked).toEqual([]);
});

test("a proxy that cannot be reached is named in the log, not to callers, and never with its password", async () => {
  const answer = await predictOutside({ HTTP_PROXY: "http://gantry:s3cret@127.0.0.1:1" });
  expect(answer.status).toBe(503);
  expect(answer.text).toContain("The egress proxy could not be reached");
  expect(answer.body.detail[0].msg).not.toContain("127.0.0.1");
  expect(answer.logged).toContain("The egress proxy http://127.0.0.1:1 could not be reached");
  expect(answer.logged).not.toContain("s3cret");
}, 90_000);

const proxies = ["GANTRY_EGRESS_PROXY", "HTTPS_PROXY", "http_proxy"];

test("an address that is not a proxy is refused at the start", () => {
  for (const name of proxies) {
    for (const address of ["socks5://proxy:1080", "http://proxy:3128/path", "http://proxy:99999", "http://a#b@proxy"]) {
      expect(() => readConfig({ [name]: address }, "."), address).toThrow(`${name.toUpperCase()} `);
    }
  }
  expect(readConfig({ GANTRY_EGRESS_PROXY: "http://user:p%40ss@proxy:3128/" }, ".").GANTRY_EGRESS_PROXY).toBe(
    "http://user:p%40ss@proxy:3128",
  );
  expect(readConfig({ HTTPS_PROXY: "https://proxy" }, ".").HTTPS_PROXY).toBe("https://proxy");
  expect(readConfig({ HTTPS_PROXY: "upper:1", https_proxy: "lower:2" }, ".").HTTPS_PROXY).toBe("http://lower:2");
  expect(readConfig({ HTTPS_PROXY: "upper:1", https_proxy: " " }, ".").HTTPS_PROXY).toBe("http://upper:1");
});
