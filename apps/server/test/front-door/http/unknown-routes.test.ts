import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

let gantry: GantryNode;

beforeAll(async () => {
  gantry = await startGantry();
});
afterAll(() => gantry.close());

/** The two error formats: one for the agents API, one for all other routes. */
const agents = (type: string, message: string) => ({ error: { type, code: type, message } });
const others = (status_code: number, detail: string) => ({ detail, status_code });

/** Requests exactly this address, which `fetch` would normalise. */
function ask(
  method: string,
  address: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; allow: string | undefined; body: unknown }> {
  return new Promise((resolve, reject) => {
    const asked = request(gantry.url, { method, path: address, headers, agent: false }, async (response) => {
      let text = "";
      for await (const chunk of response.setEncoding("utf8")) text += chunk;
      resolve({ status: response.statusCode ?? 0, allow: response.headers.allow, body: JSON.parse(text) });
    });
    asked.on("error", reject).end();
  });
}

describe.each(["", "http://other.example", "HTTP://user@other.example:81", "https://v1"])(
  "an address after %j",
  (host) => {
    test.each([
      ["that cannot be read", "/agents/%"],
      ["that is too long", `/agents/${"x".repeat(3000)}`],
      ["that is nothing", "/nothing/at/all?a=/v1/"],
    ])("%s is a 404 in the format of its API", async (_, path) => {
      expect(await ask("GET", `${host}/v1${path}`)).toMatchObject({
        status: 404,
        body: agents("not_found", "Not found"),
      });
      expect(await ask("GET", `${host}/api${path}`)).toMatchObject({ status: 404, body: others(404, "Not found") });
      expect(await ask("GET", `${host}${path}`)).toMatchObject({ status: 404, body: others(404, "Not found") });
    });

    test("another method is a 405 in the format of its API", async () => {
      const message = "Method PUT is not allowed here";
      const run = { status: 405, allow: "GET, HEAD", body: agents("method_not_allowed", message) };
      expect(await ask("PUT", `${host}/v1/runs?limit=1`)).toEqual(run);
      expect(await ask("PUT", `${host}/api/v2/me`)).toEqual({
        status: 405,
        allow: "GET, HEAD, DELETE",
        body: others(405, message),
      });
    });
  },
);

const json = { "content-type": "application/json" };
const bodies: [what: string, headers: Record<string, string>, body: string][] = [
  ["invalid JSON", json, "{bad"],
  ["no JSON at all", json, ""],
  ["8 MB of JSON", json, `"${"x".repeat(8_000_000)}"`],
  ["an invalid form", { "content-type": "multipart/form-data" }, "--x"],
  ["what has no type", { "content-type": "none" }, "x"],
];

describe.each(bodies)("%s", (_, headers, body) => {
  test.each([
    ["without a key", {}],
    ["with a wrong key", { "x-api-key": "gk_000000000000_wrong" }],
  ])("is not read where no route exists, %s", async (_who, key) => {
    const send = async (method: string, path: string) => {
      const answer = await fetch(gantry.url + path, { method, headers: { ...headers, ...key }, body });
      expect(answer.headers.get("x-request-id")).not.toBeNull();
      // A short remainder is read; a long one closes the connection.
      expect(answer.headers.get("connection")).toBe(body.length > 1_048_576 ? "close" : "keep-alive");
      return [answer.status, answer.headers.get("allow"), await answer.json()];
    };
    const no = (method: string) => `Method ${method} is not allowed here`;
    expect(await send("POST", "/nope")).toEqual([404, null, others(404, "Not found")]);
    expect(await send("POST", "/v1/nope")).toEqual([404, null, agents("not_found", "Not found")]);
    expect(await send("POST", "/%")).toEqual([404, null, others(404, "Not found")]);
    expect(await send("POST", "/v1/%")).toEqual([404, null, agents("not_found", "Not found")]);
    expect(await send("POST", "/v1")).toEqual([404, null, agents("not_found", "Not found")]);
    expect(await send("PUT", "/api/v2/me")).toEqual([405, "GET, HEAD, DELETE", others(405, no("PUT"))]);
    const onAgents = agents("method_not_allowed", no("DELETE"));
    expect(await send("DELETE", "/v1/agents/")).toEqual([405, "GET, HEAD, POST", onAgents]);
    expect(await send("PUT", "/v1/runs")).toEqual([405, "GET, HEAD", agents("method_not_allowed", no("PUT"))]);
  });
});

test("an address without a path is the root", async () => {
  for (const address of ["http://other.example?a=1", "/?a=1"]) {
    expect(await ask("POST", address), address).toMatchObject({ status: 405, allow: "GET, HEAD" });
  }
});

test("an unknown method is a 404 or 405", async () => {
  for (const method of ["QUERY", "PROPFIND", "OPTIONS"]) {
    expect((await ask(method, "/nope")).status, method).toBe(404);
    expect(await ask(method, "/v1/runs"), method).toMatchObject({ status: 405, allow: "GET, HEAD" });
  }
});

test("the Allow header lists the methods that work, HEAD among them", async () => {
  expect(await ask("OPTIONS", "/api/v2/me")).toMatchObject({ status: 405, allow: "GET, HEAD, DELETE" });
  expect((await gantry.fetch("HEAD", "/api/v2/me")).status).toBe(200);
  expect(await ask("DELETE", "/s3/gantry/uploads/x")).toMatchObject({ status: 405, allow: "GET, HEAD, PUT" });
  expect(await ask("GET", "/api/v1/gantry/image/predict")).toMatchObject({ status: 405, allow: "POST" });
});

describe("a malformed model address", () => {
  test.each([
    ["GET", "/api/v1/%zz/cog"],
    ["GET", "/api/v1/admin/%"],
    ["POST", `/api/v1/admin/${"x".repeat(3000)}/predict`],
    ["GET", `http://other.example/api/v1/${"x".repeat(3000)}/cog/openapi.json?a=1`],
  ])("is refused for the key first, then as an unknown project, case %#", async (method, address) => {
    const refused = await ask(method, address);
    expect([refused.status, refused.body]).toMatchObject([401, { error: { code: "unauthorized" } }]);
    expect((await ask(method, address, { "x-api-key": "gk_000000000000_wrong" })).status).toBe(401);
    const known = await ask(method, address, { "x-api-key": gantry.adminKey });
    expect(known).toMatchObject({ status: 404, body: others(404, "Project not found") });
  });
});

describe("expenses of an invalid username", () => {
  const key = () => ({ "x-api-key": gantry.adminKey });

  test("is not found, in the format of its API", async () => {
    for (const path of ["/v1/expenses", "/v1/expenses/", "/v1/expenses/5"]) {
      for (const method of ["GET", "DELETE"]) {
        const answer = { status: 404, body: agents("not_found", "Not found") };
        expect(await ask(method, path, key()), path).toMatchObject(answer);
        expect(await ask(method, path), path).toMatchObject(answer);
      }
    }
    for (const part of ["api", "v2", "docs", "metrics", "mcp", "console/api", "healthz"]) {
      for (const path of [`/${part}/expenses`, `/${part}/expenses/5`]) {
        expect(await ask("GET", path, key()), path).toMatchObject({ status: 404, body: others(404, "Not found") });
      }
    }
  });

  test("is the name of a secret or a key, even if a user is called like their list", async () => {
    const owner = await gantry.newUser("owner");
    const namesakes = { secrets: await gantry.newUser("secrets"), keys: await gantry.newUser("keys") };
    expect((await gantry.call("PUT", "/api/v2/secrets/expenses", { json: { value: "x" }, key: owner })).status).toBe(
      201,
    );
    for (const [name, allow] of [
      ["secrets", "PUT, DELETE"],
      ["keys", "PATCH, DELETE"],
    ] as const) {
      for (const presented of [owner, namesakes[name]]) {
        const answer = await ask("GET", `/api/v2/${name}/expenses`, { "x-api-key": presented });
        expect(answer).toMatchObject({ status: 405, allow });
      }
      const expenses = await ask("GET", `/${name}/expenses/`, { "x-api-key": namesakes[name] });
      expect(expenses).toMatchObject({ status: 200, body: { total_count: 0 } });
    }
  });
});
