import { readdir } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../server/test/support/gantry.ts";

let gantry: GantryNode;
let script: string;

beforeAll(async () => {
  gantry = await startGantry();
  const assets = await readdir(new URL("../dist/assets", import.meta.url));
  script = `/console/assets/${assets.find((name) => /^index-.*\.js$/.test(name))}`;
});
afterAll(() => gantry.close());

/** Like a browser without a key. */
const ask = (path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Response> =>
  fetch(gantry.url + path, { method, headers: { "accept-encoding": "br", ...headers }, redirect: "manual" });

test("every console path serves the page, which browsers revalidate", async () => {
  for (const path of ["/console/", "/console/models/admin/mine", "/console/sign-in"]) {
    const response = await ask(path);
    expect([response.status, response.headers.get("cache-control")], path).toEqual([200, "no-cache"]);
    expect(await response.text()).toContain(script);
    const again = await ask(path, { "if-none-match": String(response.headers.get("etag")) });
    expect([again.status, await again.text()]).toEqual([304, ""]);
  }
});

test("assets are compressed, immutable, and exist only in their build", async () => {
  const answer = await ask(script);
  expect([answer.status, answer.headers.get("content-encoding"), answer.headers.get("cache-control")]).toEqual([
    200,
    "br",
    "public, max-age=31536000, immutable",
  ]);
  expect(Number(answer.headers.get("content-length"))).toBeLessThan((await answer.text()).length / 2);
  expect((await ask(script, {}, "HEAD")).headers.get("etag")).toBe(answer.headers.get("etag"));
  expect((await ask("/console/assets/index-00000000.js")).status).toBe(404);
});

test("the bare path redirects, and other methods are refused", async () => {
  const bare = await ask("/console");
  expect([bare.status, bare.headers.get("location")]).toEqual([302, "console/"]);
  for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
    const answer = await ask("/console/", {}, method);
    expect([answer.status, answer.headers.get("allow")], method).toEqual([405, "GET, HEAD"]);
  }
});

test("internal files of the build are not served", async () => {
  expect(await (await ask("/console/.sources")).text()).toContain("<!doctype html>");
});

test("the console counts as one route in the metrics", async () => {
  for (const path of ["/console", "/console/", "/console/runs", script]) await (await ask(path)).arrayBuffer();
  const figures = await (await ask("/metrics", { "x-api-key": gantry.adminKey })).text();
  expect(new Set(figures.match(/route="\/console[^"]*"/g))).toEqual(new Set(['route="/console/*"']));
});

test("the content security policy allows the public origin of files", async () => {
  const policy = String((await ask("/console/")).headers.get("content-security-policy"));
  expect(policy).toMatch(/connect-src 'self';/);
  const publicUrl = "https://gantry.example/under";
  const behind = await startGantry({ env: { GANTRY_PUBLIC_URL: publicUrl }, beside: gantry });
  const answer = await behind.call("GET", "/console/", { key: "" });
  expect(answer.headers.get("content-security-policy")).toContain("connect-src 'self' https://gantry.example;");
  await behind.close();
});
