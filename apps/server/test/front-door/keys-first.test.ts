import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { templateOf } from "../../src/http/foundation/request-path.ts";
import { type GantryNode, startGantry } from "../support/gantry.ts";

/** What may be read without a key: nothing that is not named here. */
const open = ["/", "/console", "/console/*", "/docs/errors", "/docs/manifest.schema.json"];
/** Opened by the signature in the address. */
const signed = ["/s3/*"];
/** Bring a key in their body, or end what there may be of a session. */
const signing = ["POST /console/api/session", "DELETE /console/api/session"];
const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

const routes: { method: string; url: string }[] = [];
const onServer = (message: unknown) => {
  const { fastify } = message as { fastify: FastifyInstance };
  fastify.addHook("onRoute", ({ method, url }) => {
    for (const one of [method].flat()) if (methods.includes(one)) routes.push({ method: one, url });
  });
};

let gantry: GantryNode;

beforeAll(async () => {
  subscribe("fastify.initialization", onServer);
  gantry = await startGantry();
});
afterAll(async () => {
  unsubscribe("fastify.initialization", onServer);
  await gantry.close();
});

const queries = ["prediction_id=x", "page=0&page_size=none&request_id=x&status=none&wait=soon&start_date=never"];
const bodies: { what: string; headers: Record<string, string>; body?: string }[] = [
  { what: "nothing", headers: {} },
  { what: "JSON that is none", headers: { "content-type": "application/json" }, body: "{" },
  { what: "JSON of a wrong shape", headers: { "content-type": "application/json" }, body: '{"wrong":1}' },
  { what: "a form that is none", headers: { "content-type": "multipart/form-data; boundary=b" }, body: "--x" },
  { what: "an unknown type", headers: { "content-type": "application/unknown" }, body: "x" },
  { what: "no type at all", headers: { "content-type": "none" }, body: "x" },
];

test.each([
  ["no key", {}],
  ["a wrong key", { "x-api-key": "gk_000000000000_wrong" }],
])(
  "every route looks at the key before anything else: %s",
  async (_, key) => {
    const answers: string[] = [];
    for (const { method, url } of routes) {
      if (open.includes(url) || signed.includes(url) || signing.includes(`${method} ${url}`)) continue;
      const path = templateOf(url).replace(/:\w+/g, "x").replace("*", "x");
      for (const query of queries) {
        for (const { what, headers, body } of bodies) {
          if (body !== undefined && (method === "GET" || method === "HEAD")) continue;
          const response = await fetch(`${gantry.url}${path}?${query}`, {
            method,
            headers: { ...headers, ...key, "idempotency-key": "" },
            ...(body !== undefined && { body }),
          });
          await response.arrayBuffer();
          if (response.headers.get("x-content-type-options") !== "nosniff") answers.push(`sniffed: ${method} ${url}`);
          if (response.status !== 401) answers.push(`${response.status} ${method} ${url}?${query} with ${what}`);
        }
      }
    }
    expect(answers).toEqual([]);
    expect(new Set(routes.map(({ url }) => url)).size).toBeGreaterThan(50);
  },
  60_000,
);

test("no browser guesses the type of what is open to all", async () => {
  for (const path of [...open, "/healthz", "/readyz", "/s3/x", "/nowhere"]) {
    const { headers } = await fetch(gantry.url + path.replace("*", "x"), { redirect: "manual" });
    expect(headers.get("x-content-type-options"), path).toBe("nosniff");
  }
});

test("the address that the start prints says what is there, and nothing of this machine", async () => {
  const response = await fetch(gantry.url);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/plain; charset=utf-8"]);
  const page = await response.text();
  expect(page).toMatch(/^Gantry \d+\.\d+\.\d+: /);
  const named = page.match(/(?<=\s)\/[\w./]+/g) ?? [];
  expect(named).toEqual([
    "/console/",
    "/docs/errors",
    "/docs/manifest.schema.json",
    "/api/v1",
    "/api/v1/openapi.json",
    "/api/v2/openapi.json",
    "/v1/openapi.json",
    "/mcp",
    "/healthz",
    "/readyz",
  ]);
  for (const path of named) {
    const answer = await fetch(`${gantry.url}${path}`, { headers: { "x-api-key": gantry.adminKey } });
    // Who looks at the address of the tool server without speaking its protocol is told that it is one. The console may
    // not be built here.
    const wanted = path === "/mcp" ? [405] : path === "/console/" ? [200, 503] : [200];
    expect(wanted, path).toContain(answer.status);
    await answer.arrayBuffer();
  }
  expect((await fetch(gantry.url, { method: "POST" })).status).toBe(405);
});

test("a browser is led from there to the console, wherever its address begins", async () => {
  const accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
  const response = await fetch(gantry.url, { headers: { accept }, redirect: "manual" });
  expect([response.status, response.headers.get("location")]).toEqual([302, "console/"]);
  expect(response.headers.get("vary")).toBe("accept");
});

test("a worker has no console, and sends nobody there", async () => {
  const worker = await startGantry({ env: { GANTRY_ROLE: "worker" }, beside: gantry });
  const page = await worker.call("GET", "/", { key: "", headers: { accept: "text/html" } });
  expect([page.status, page.text.includes("console")]).toEqual([200, false]);
  expect((await worker.call("GET", "/console/", { key: "" })).status).toBe(404);
  await worker.close();
});

test("what needs no key is still there", () => {
  const urls = routes.map(({ url }) => url);
  expect(urls).toEqual(expect.arrayContaining([...open, ...signed]));
  expect(routes.map(({ method, url }) => `${method} ${url}`)).toEqual(expect.arrayContaining(signing));
});
