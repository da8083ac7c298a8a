import { afterAll, beforeAll, expect, test } from "vitest";
import { accessTable } from "../../../src/http/foundation/access-table.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

/** Routes that answer without a key. */
const open = [
  "GET /",
  "GET /console",
  "GET /console/*",
  "GET /docs/errors",
  "GET /docs/manifest.schema.json",
  // Authorised by the signature in the address.
  "GET /s3/*",
  "OPTIONS /s3/*",
  "PUT /s3/*",
  // The secret of a trigger is in its address. An authorization server calls back with a state that is used once.
  "GET /hooks/oauth/callback",
  "POST /hooks/oauth/callback",
  "POST /hooks/{trigger_id}/{secret}",
  // Apps connect by OAuth: tokens are for codes and refresh tokens in the body.
  "GET /.well-known/oauth-protected-resource",
  "GET /.well-known/oauth-protected-resource/mcp",
  "GET /.well-known/oauth-authorization-server",
  "GET /oauth/authorize",
  "POST /oauth/register",
  "POST /oauth/token",
  "POST /oauth/revoke",
  // Carry a key in the body, or end a session.
  "DELETE /console/api/session",
  "POST /console/api/session",
  // What the sign-in page offers, and signing in: with the token of a reset, or the cookie and state of a provider.
  "GET /console/api/sign-in",
  "POST /console/api/password-reset",
  "GET /console/api/oidc/start",
  "GET /console/api/oidc/callback",
];
const routes = Object.keys(accessTable)
  .filter((row) => !open.includes(row) && !row.startsWith("OPTIONS "))
  .map((row) => row.replace("ALL ", "GET ").split(" ") as [method: string, url: string]);

let gantry: GantryNode;

beforeAll(async () => {
  gantry = await startGantry();
});
afterAll(async () => {
  await gantry.close();
});

const query = "prediction_id=x&page=0&page_size=none&request_id=x&status=none&wait=soon&start_date=never";
const bodies: { what: string; headers: Record<string, string>; body?: string }[] = [
  { what: "nothing", headers: {} },
  { what: "invalid JSON", headers: { "content-type": "application/json" }, body: "{" },
  { what: "an invalid form", headers: { "content-type": "multipart/form-data; boundary=b" }, body: "--x" },
  { what: "no type at all", headers: { "content-type": "none" }, body: "x" },
];

test.each([
  ["no key", {}],
  ["a wrong key", { "x-api-key": "gk_000000000000_wrong" }],
])(
  "every route checks the key first: %s",
  async (_, key) => {
    const answers: string[] = [];
    for (const [method, url] of routes) {
      const path = url.replace(/\{\w+\}|\*/g, "x");
      for (const { what, headers, body } of bodies) {
        if (body !== undefined && method === "GET") continue;
        const response = await fetch(`${gantry.url}${path}?${query}`, {
          method,
          headers: { ...headers, ...key, "idempotency-key": "" },
          ...(body !== undefined && { body }),
        });
        await response.arrayBuffer();
        if (response.headers.get("x-content-type-options") !== "nosniff") answers.push(`sniffed: ${method} ${url}`);
        if (response.status !== 401) answers.push(`${response.status} ${method} ${url} with ${what}`);
      }
    }
    expect(answers).toEqual([]);
    expect(routes.length).toBeGreaterThan(80);
  },
  60_000,
);

test("a preflight needs no key, and its body is not read", async () => {
  const paths = Object.keys(accessTable).filter((row) => row.startsWith("OPTIONS /v1/"));
  expect(paths.length).toBeGreaterThan(10);
  for (const row of paths) {
    for (const { headers, body } of bodies) {
      const path = row.split(" ")[1]?.replace(/\{\w+\}/g, "x");
      const response = await fetch(gantry.url + path, { method: "OPTIONS", headers, ...(body && { body }) });
      expect([row, response.status, await response.text()]).toEqual([row, 204, ""]);
    }
  }
});

test("public answers forbid content sniffing", async () => {
  const paths = open.map((row) => (row.split(" ")[1] ?? "").replace("*", "x"));
  for (const path of [...paths, "/healthz", "/readyz", "/nowhere"]) {
    const { headers } = await fetch(gantry.url + path, { redirect: "manual" });
    expect(headers.get("x-content-type-options"), path).toBe("nosniff");
  }
});

test("the root lists the entry points and reveals nothing about the machine", async () => {
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
    "/v1/doors/openapi.json",
    "/mcp",
    "/healthz",
    "/readyz",
  ]);
  for (const path of named) {
    const answer = await fetch(`${gantry.url}${path}`, { headers: { "x-api-key": gantry.adminKey } });
    // A browser that opens the MCP endpoint learns what it is. The console may
    // not be built here.
    const wanted = path === "/mcp" ? [405] : path === "/console/" ? [200, 503] : [200];
    expect(wanted, path).toContain(answer.status);
    await answer.arrayBuffer();
  }
  expect((await fetch(gantry.url, { method: "POST" })).status).toBe(405);
});

test("a browser is redirected from the root to the console, also under a prefix", async () => {
  const accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
  const response = await fetch(gantry.url, { headers: { accept }, redirect: "manual" });
  expect([response.status, response.headers.get("location")]).toEqual([302, "console/"]);
  expect(response.headers.get("vary")).toBe("accept");
});

test("a worker has no console and does not redirect to it", async () => {
  const worker = await startGantry({ env: { GANTRY_ROLE: "worker" }, beside: gantry });
  const page = await worker.call("GET", "/", { key: "", headers: { accept: "text/html" } });
  expect([page.status, page.text.includes("console")]).toEqual([200, false]);
  expect((await worker.call("GET", "/console/", { key: "" })).status).toBe(404);
  await worker.close();
});

test("the listed public routes exist", () => {
  expect([...gantry.gantry.accessRows]).toEqual(expect.arrayContaining(open));
});
