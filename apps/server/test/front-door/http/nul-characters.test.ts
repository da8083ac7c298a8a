import { connect } from "node:net";
import { doorOperations } from "@gantry/wire/operations";
import { afterAll, beforeAll, expect, test } from "vitest";
import { accessTable } from "../../../src/http/foundation/access-table.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

const routes = Object.keys(accessTable)
  .filter((row) => !row.startsWith("OPTIONS "))
  .map((row) => {
    const [method = "", url = ""] = row.replace("ALL ", "GET ").split(" ");
    return { method, url };
  });

let gantry: GantryNode;

beforeAll(async () => {
  gantry = await startGantry();
});
afterAll(async () => {
  await gantry.close();
});

/** The route's path with a value for each parameter, the one at `nulAt` with a NUL. */
function pathOf(url: string, nulAt = -1): string {
  let at = -1;
  return url.replace(/\{\w+\}|\*/g, () => (++at === nulAt ? "a%00b" : "x"));
}

const parametersOf = (url: string) => url.match(/\{\w+\}|\*/g) ?? [];

/** The agents platform and triggers answer 400 for wrong input, all other routes 422. */
const wrong = (url: string) => (url.startsWith("/v1/") || url.startsWith("/hooks/{") ? 400 : 422);

const doorPaths = new Set([...Object.values(doorOperations).map(({ path }) => `/v1${path}`), "/v1/doors/openapi.json"]);
const isDoor = (url: string) => doorPaths.has(url);
/** In OpenAI's errors, and in front of Anthropic's messages. */
const namesParameter = /"param":"|"message":"[^":]+: NUL/;

async function send(method: string, path: string, init: RequestInit = {}): Promise<{ status: number; text: string }> {
  const headers = { "x-api-key": gantry.adminKey, ...init.headers };
  const response = await fetch(gantry.url + path, { ...init, method, headers, redirect: "manual" });
  return { status: response.status, text: await response.text() };
}

test("every path parameter refuses a NUL and is named", async () => {
  const answers: string[] = [];
  let tried = 0;
  for (const { method, url } of routes) {
    for (const [at, parameter] of parametersOf(url).entries()) {
      const { status, text } = await send(method, pathOf(url, at));
      const name = parameter === "*" ? "path" : parameter.slice(1, -1);
      const isNamed = text.includes(`"loc":["path","${name}"]`) || (isDoor(url) && text.includes(`"param":"${name}"`));
      tried++;
      if (status !== wrong(url) || !isNamed) answers.push(`${status} ${method} ${url} ${parameter}: ${text}`);
    }
  }
  expect(answers).toEqual([]);
  expect(tried).toBeGreaterThan(80);
}, 60_000);

test("every query refuses a NUL in a name and in a value", async () => {
  const answers: string[] = [];
  for (const { method, url } of routes) {
    for (const query of ["page=%00", "a=1&b=x%00", "a%00b=1", "a=1&a=%00"]) {
      const { status, text } = await send(method, `${pathOf(url)}?${query}`);
      const isNamed = text.includes('"loc":["query","') || (isDoor(url) && namesParameter.test(text));
      if (status !== wrong(url) || !isNamed) answers.push(`${status} ${method} ${url}?${query}: ${text}`);
    }
  }
  expect(answers).toEqual([]);
}, 60_000);

test("every body refuses a NUL or is not read", async () => {
  const json = { "content-type": "application/json" };
  const form = { "content-type": "multipart/form-data; boundary=b" };
  const part = (head: string, value: string) =>
    `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n--b--\r\n`;
  const bodies: RequestInit[] = [
    { headers: json, body: '{"name":"a\\u0000b"}' },
    { headers: json, body: '{"a\\u0000b":1}' },
    { headers: json, body: '{"deep":[{"in":"\\u0000"}]}' },
    { headers: json, body: '"\\u0000"' },
    { headers: form, body: part('name="prompt"', "a\0b") },
    { headers: form, body: part('name="a\0b"', "x") },
    { headers: form, body: part("name=\"file\"; filename*=UTF-8''a%00b", "x") },
    { headers: form, body: part('name="webhook"', '{"url":"http://a.test/\\u0000"}') },
    { headers: form, body: part('name="user"', '{"id":"\\u0000"}') },
    { headers: { "content-type": "application/octet-stream" }, body: "\0" },
  ];
  const answers: string[] = [];
  let refused = 0;
  for (const { method, url } of routes) {
    if (method === "GET") continue;
    for (const init of bodies) {
      const { status, text } = await send(method, pathOf(url), init);
      if (status >= 500) answers.push(`${status} ${method} ${url} ${String(init.body)}: ${text}`);
      if (text.includes("NUL")) refused++;
    }
  }
  expect(answers).toEqual([]);
  expect(refused).toBeGreaterThan(100);
}, 60_000);

test.each([
  ["PUT", "/api/v2/secrets/mine", { value: "a\0b" }, ["body", "value"]],
  ["POST", "/api/v2/keys", { name: "a\0b" }, ["body", "name"]],
  ["POST", "/api/v1/gantry/image/predict/cancel", { prediction_id: "a\0b" }, ["body", "prediction_id"]],
  ["POST", "/console/api/session", { key: "a\0b" }, ["body", "key"]],
])("%s %s names the field", async (method, path, json, loc) => {
  const answer = await gantry.call(method, path, { json });
  expect([answer.status, answer.body.detail]).toMatchObject([422, [{ loc, msg: "NUL characters are not allowed" }]]);
});

test("a text field of a form is named too", async () => {
  const answer = await gantry.call("POST", "/api/v1/gantry/image/predict", { form: { prompt: "a\0b" } });
  expect([answer.status, answer.body.detail]).toMatchObject([422, [{ loc: ["body", "prompt"] }]]);
});

test("no header can carry a NUL", async () => {
  const { hostname, port } = new URL(gantry.url);
  const socket = connect(Number(port), hostname);
  socket.write("GET /api/v2/me HTTP/1.1\r\nHost: x\r\nIdempotency-Key: a\0b\r\n\r\n");
  const [first = ""] = (await socket.setEncoding("latin1").toArray()).join("").split("\r\n");
  expect(first).toBe("HTTP/1.1 400 Bad Request");
});
