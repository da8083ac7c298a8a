import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AccountsUnderTest, accountsUnderTest } from "../../../test/support/account-api.ts";
import { writePast } from "../../features/billing/books.fixture.ts";
import { verifyLedger } from "../../features/billing/index.ts";

let site: AccountsUnderTest;
let key: string;
let otherKey: string;
let userId: string;

const get = (query = "", options: object = {}) => site.call("GET", `/api/v2/usage${query}`, { key, ...options });
const idOf = async (presented: string): Promise<string> =>
  (await site.call("GET", "/api/v2/me", { key: presented })).body.id;

beforeAll(async () => {
  site = await accountsUnderTest();
  key = await site.newUser("ursula");
  otherKey = await site.newUser("otto");
  userId = await idOf(key);
  await writePast(site.database, [
    { userId, at: "2026-01-31T12:00:00Z", price: 30_000, id: "pred_a", inferenceMs: 1_250, model: "gantry/image" },
    { userId, at: "2026-01-31T23:59:59Z", price: 0, id: "pred_b", status: 499, route: "stream" },
    {
      userId,
      at: "2026-02-01T00:00:00.000123Z",
      price: 1,
      id: "pred_c",
      route: "async",
      inferenceMs: 7,
      tokens: [10, 20, 5],
      model: 'odd,"name"',
    },
  ]);
});
afterAll(async () => {
  expect(await verifyLedger(site.database)).toEqual([]);
  await site.close();
});

describe("GET /api/v2/usage", () => {
  it("200: the caller's ended predictions, newest first", async () => {
    const answer = await get("/");
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      results: [
        {
          request_id: "pred_c",
          model_name: 'odd,"name"',
          route: "async",
          status: 200,
          created_at: "2026-02-01T00:00:00.000123Z",
          inference_time: 0.007,
          input_tokens: 10,
          output_tokens: 20,
          cached_tokens: 5,
          price: 0.000001,
          cache_write_tokens: 0,
          door: null,
          backend: null,
        },
        {
          request_id: "pred_b",
          model_name: "ann/model",
          route: "stream",
          status: 499,
          created_at: "2026-01-31T23:59:59.000Z",
          inference_time: null,
          input_tokens: null,
          output_tokens: null,
          cached_tokens: null,
          price: 0,
          cache_write_tokens: 0,
          door: null,
          backend: null,
        },
        {
          request_id: "pred_a",
          model_name: "gantry/image",
          route: "sync",
          status: 200,
          created_at: "2026-01-31T12:00:00.000Z",
          inference_time: 1.25,
          input_tokens: null,
          output_tokens: null,
          cached_tokens: null,
          price: 0.03,
          cache_write_tokens: 0,
          door: null,
          backend: null,
        },
      ],
      page: 1,
      page_size: 20,
      total_count: 3,
      total_pages: 1,
    });
  });

  it("200: only the caller's own", async () => {
    expect((await get("", { key: otherKey })).body).toEqual({
      results: [],
      page: 1,
      page_size: 20,
      total_count: 0,
      total_pages: 0,
    });
  });

  it.each([
    ["?page=2&page_size=1", ["pred_b"]],
    ["?page=4&page_size=1", []],
    ["?page=1000000000&page_size=100", []],
  ])("200: %s", async (query, ids) => {
    const { status, body } = await get(query);
    expect(status).toBe(200);
    expect(body.results.map((one: { request_id: string }) => one.request_id)).toEqual(ids);
    expect(body.total_count).toBe(3);
  });

  it.each([
    ["?from_date=2026-01-31T23:59:59", ["pred_c", "pred_b"]],
    ["?to_date=2026-01-31T23:59:59", ["pred_b", "pred_a"]],
    ["?from_date=2026-01-31T12:00:00&to_date=2026-01-31T12:00:00", ["pred_a"]],
    ["?from_date=2026-02-01T00:00:00.000123Z", ["pred_c"]],
    ["?to_date=2026-02-01T00:00:00", ["pred_b", "pred_a"]],
    ["?from_date=2026-02-01T01:59:59%2B02:00&to_date=2026-02-01T02:00:00+02:00", ["pred_b"]],
    ["?from_date=2030-01-01T00:00:00", []],
    ["?to_date=9999-12-31T23:59:59", ["pred_c", "pred_b", "pred_a"]],
    ["?from_date=0001-01-01T00:00:00", ["pred_c", "pred_b", "pred_a"]],
  ])("200: %s", async (query, ids) => {
    const { status, body } = await get(query);
    expect(status).toBe(200);
    expect(body.results.map((one: { request_id: string }) => one.request_id)).toEqual(ids);
    expect(body.total_count).toBe(ids.length);
  });

  it.each([
    ["?page=0", "greater_than_equal", "page"],
    ["?page=x", "int_parsing", "page"],
    ["?page=1&page=2", "int_parsing", "page"],
    ["?page_size=101", "less_than_equal", "page_size"],
    ["?page_size=0", "greater_than_equal", "page_size"],
    ["?page_size=1.5", "int_parsing", "page_size"],
    ["?from_date=yesterday", "datetime_parsing", "from_date"],
    ["?from_date=", "datetime_parsing", "from_date"],
    ["?to_date=2026-02-30T00:00:00", "datetime_parsing", "to_date"],
    ["?to_date=2026-01-01T00:00:00&to_date=2026-01-02T00:00:00", "datetime_parsing", "to_date"],
    ["?from_date=2026-01-02T00:00:00&to_date=2026-01-01T00:00:00", "value_error", "from_date"],
  ])("422: %s", async (query, type, name) => {
    const refused = await get(query);
    expect(refused.status).toBe(422);
    expect(refused.body.detail).toMatchObject([{ type, loc: ["query", name], url: expect.stringContaining(type) }]);
    expect(refused.headers["x-service-retryable"]).toBe("false");
  });

  it.each(["start_date=2030-01-01T00:00:00Z", "model_name=x", "limit=1"])(
    "422: ?%s, which the list does not have, with those that it has",
    async (parameter) => {
      for (const accept of ["application/json", "text/csv"]) {
        const refused = await get(`?${parameter}`, { headers: { accept } });
        expect(refused.status, refused.text).toBe(422);
        const msg = "Unknown parameter. Known: page, page_size, from_date, to_date";
        expect(refused.body.detail).toMatchObject([
          { type: "extra_forbidden", loc: ["query", parameter.split("=")[0]], msg },
        ]);
      }
    },
  );

  it("422: all faults at once", async () => {
    const refused = await get("?page=0&page_size=x&from_date=a&to_date=b");
    expect(refused.body.detail.map((one: { loc: string[] }) => one.loc[1])).toEqual([
      "page",
      "page_size",
      "from_date",
      "to_date",
    ]);
  });

  it("401: without a key", async () => {
    expect((await site.call("GET", "/api/v2/usage")).status).toBe(401);
  });

  it("405: it is read only", async () => {
    const refused = await site.call("POST", "/api/v2/usage", { key, body: {} });
    expect([refused.status, refused.headers.allow]).toEqual([405, "GET, HEAD"]);
  });
});

describe("GET /api/v2/usage as CSV", () => {
  const header =
    "request_id,model_name,route,status,created_at,inference_time,input_tokens,output_tokens,cached_tokens,price,cache_write_tokens,door,backend";
  const csv = async (query = "", options: object = {}) => get(query, { headers: { accept: "text/csv" }, ...options });

  it("200: the whole list, quoted where it must be", async () => {
    const answer = await csv();
    expect(answer.status).toBe(200);
    expect(answer.headers["content-type"]).toContain("text/csv");
    expect(answer.headers["content-disposition"]).toBe('attachment; filename="usage.csv"');
    expect(answer.headers.vary).toBe("Accept");
    expect(answer.text).toBe(
      [
        header,
        'pred_c,"odd,""name""",async,200,2026-02-01T00:00:00.000123Z,0.007,10,20,5,0.000001,0,,',
        "pred_b,ann/model,stream,499,2026-01-31T23:59:59.000Z,,,,,0,0,,",
        "pred_a,gantry/image,sync,200,2026-01-31T12:00:00.000Z,1.25,,,,0.03,0,,",
        "",
      ].join("\r\n"),
    );
  });

  it("200: one page, a filter, and only the header without entries", async () => {
    expect((await csv("?page=2&page_size=1")).text.split("\r\n")).toEqual([
      header,
      expect.stringMatching(/^pred_b,/),
      "",
    ]);
    expect((await csv("?page_size=1")).text.split("\r\n")).toHaveLength(3);
    expect((await csv("?page=9")).text).toBe(`${header}\r\n`);
    expect((await csv("?to_date=2026-01-31T12:00:00")).text.split("\r\n")).toHaveLength(3);
    expect((await csv("", { key: otherKey })).text).toBe(`${header}\r\n`);
  });

  it("200: more rows than are held at once, each once", async () => {
    const manyKey = await site.newUser("many");
    const manyId = await idOf(manyKey);
    const requests = Array.from({ length: 2_500 }, (_, n) => ({
      userId: manyId,
      // Many at the same moment: the order among them is that of their ids.
      at: new Date(Date.UTC(2026, 0, 5) + Math.floor(n / 700) * 1000).toISOString(),
      id: `pred_${String(n).padStart(5, "0")}`,
    }));
    await writePast(site.database, requests);
    const answer = await csv("", { key: manyKey });
    const ids = answer.text
      .trimEnd()
      .split("\r\n")
      .slice(1)
      .map((line) => line.split(",")[0]);
    expect(ids).toEqual(requests.map((one) => one.id).toReversed());
  });

  it("422: a wrong value is refused as in JSON", async () => {
    const refused = await csv("?from_date=x");
    expect(refused.status).toBe(422);
    expect(refused.body.detail).toMatchObject([{ type: "datetime_parsing" }]);
  });
});
