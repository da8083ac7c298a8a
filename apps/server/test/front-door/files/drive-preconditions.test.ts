import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Answer, type GantryNode, startGantry } from "../../support/gantry.ts";

let gantry: GantryNode;
let drive: string;

beforeAll(async () => {
  gantry = await startGantry();
});
afterAll(() => gantry.close());
beforeEach(async () => {
  drive = (await gantry.call("POST", "/v1/drives", { json: { name: "work" } })).body.id;
});

type Headers = Record<string, string>;

const at = (path: string) => `/v1/drives/${drive}/files${path}`;
const formOf = (content: string, path?: string) => ({
  ...(path !== undefined && { path }),
  file: new Blob([content], { type: "text/plain" }),
});
const post = (path: string, content: string, headers: Headers = {}) =>
  gantry.call("POST", at(""), { form: formOf(content, path), headers });
/** With the raw body, which is the JSON of the text. */
const put = (path: string, content: string, headers: Headers = {}) =>
  gantry.call("PUT", at(path), { json: content, headers });
const putForm = (path: string, content: string, headers: Headers = {}) =>
  gantry.call("PUT", at(path), { form: formOf(content), headers });
const contentOf = async (path: string) => (await gantry.call("GET", at(path))).text;

async function made(path: string, content = "one"): Promise<string> {
  const answer = await post(path, content);
  expect(answer.status, answer.text).toBe(201);
  return answer.headers.get("etag") ?? "";
}

function expectFailed(answer: Answer, header: string): void {
  expect(answer.status, answer.text).toBe(412);
  expect(answer.body.error).toMatchObject({ type: "precondition_failed", code: "precondition_failed" });
  expect(answer.body.error.message).toContain(header);
  expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
}

describe.each([
  ["by the raw body", put],
  ["by a form", putForm],
])("replacing a file %s", (_how, replace) => {
  test("412 if another version exists, which stays", async () => {
    const etag = await made("/f");
    for (const wrong of ['"wrong"', `W/${etag}`, '"a", "b"', "unquoted"]) {
      expectFailed(await replace("/f", "two", { "if-match": wrong }), "If-Match");
    }
    for (const taken of ["*", etag, `W/${etag}`, `"a", ${etag}`]) {
      expectFailed(await replace("/f", "two", { "if-none-match": taken }), "If-None-Match");
    }
    expect(await contentOf("/f")).toBe("one");
  });

  test("200 if the conditions are met", async () => {
    let etag = await made("/f");
    for (const [at, headers] of [
      () => ({ "if-match": etag }),
      () => ({ "if-match": `"a" , ${etag}` }),
      () => ({ "if-match": "*" }),
      () => ({ "if-none-match": '"a"' }),
    ].entries()) {
      const answer = await replace("/f", `version ${at}`, headers());
      expect(answer.status, answer.text).toBe(200);
      etag = answer.headers.get("etag") ?? "";
    }
    expect(await contentOf("/f")).toContain("version 3");
  });

  test("404 if the file does not exist, whatever the conditions", async () => {
    for (const headers of [{ "if-match": "*" }, { "if-none-match": "*" }] as Headers[]) {
      expect((await replace("/f", "two", headers)).status).toBe(404);
    }
  });

  test("one of many concurrent writes with the same version wins", async () => {
    const etag = await made("/f");
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => replace("/f", `by ${index}`, { "if-match": etag })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(412)]);
    expect(await contentOf("/f")).toContain(`by ${answers.findIndex(({ status }) => status === 200)}`);
  });
});

describe("uploading a file", () => {
  test("412 with a condition and 409 without if the file exists; otherwise 201", async () => {
    await made("/f");
    expectFailed(await post("/f", "two", { "if-none-match": "*" }), "If-None-Match");
    expect((await post("/f", "two")).status).toBe(409);
    expect((await post("/f", "two", { "if-none-match": '"other"' })).status).toBe(409);
    expect(await contentOf("/f")).toBe("one");
    expect((await post("/g", "two", { "if-none-match": "*" })).status).toBe(201);
    expectFailed(await post("/h", "two", { "if-match": "*" }), "If-Match");
    expect((await gantry.call("GET", at("/h"))).status).toBe(404);
  });

  test("one of many concurrent first uploads wins", async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => post("/f", `by ${index}`, { "if-none-match": "*" })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(412)]);
  });
});

describe("reading a file", () => {
  test.each(["GET", "HEAD"])("%s: 412 for another version, 200 for this one", async (method) => {
    const etag = await made("/f");
    const read = (headers: Headers) => gantry.call(method, at("/f"), { headers });
    for (const wrong of ['"x"', `W/${etag}`]) {
      const answer = await read({ "if-match": wrong });
      expect([answer.status, answer.body?.error?.type]).toEqual([
        412,
        method === "GET" ? "precondition_failed" : undefined,
      ]);
    }
    for (const right of [etag, "*", `"x", ${etag}`]) expect((await read({ "if-match": right })).status).toBe(200);
    // If-Match is checked first, If-None-Match second, the range last.
    expect((await read({ "if-match": '"x"', "if-none-match": etag, range: "bytes=99-" })).status).toBe(412);
    expect((await read({ "if-match": etag, "if-none-match": etag })).status).toBe(304);
    expect((await read({ "if-match": etag, range: "bytes=0-1" })).status).toBe(206);
  });

  test("404 if the file does not exist", async () => {
    expect((await gantry.call("GET", at("/f"), { headers: { "if-match": "*" } })).status).toBe(404);
  });
});

describe("deleting a file", () => {
  test("412 for another version, 204 for this one, then 404", async () => {
    const etag = await made("/d/f");
    const remove = (headers: Headers) => gantry.call("DELETE", at("/d/f"), { headers });
    expectFailed(await remove({ "if-match": '"wrong"' }), "If-Match");
    expectFailed(await remove({ "if-none-match": etag }), "If-None-Match");
    expect(await contentOf("/d/f")).toBe("one");
    expect((await remove({ "if-match": etag })).status).toBe(204);
    expect((await remove({ "if-match": etag })).status).toBe(404);
    expect((await gantry.call("GET", `/v1/drives/${drive}/items`)).body.items).toEqual([]);
  });
});

test("a drive in use is not deleted: 409 names the agent by id and name", async () => {
  const json = { name: "Writer", goal: "Write", tools: [], drives: [drive] };
  const agent = await gantry.call("POST", "/v1/agents", { json });
  expect(agent.status, agent.text).toBe(201);
  const refused = await gantry.call("DELETE", `/v1/drives/${drive}`);
  expect([refused.status, refused.body.error.details]).toEqual([
    409,
    { agents: [{ id: agent.body.id, name: "Writer" }] },
  ]);
  expect(refused.body.error.message).toContain("Writer");
});
