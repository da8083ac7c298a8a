import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AccountsUnderTest, accountsUnderTest, operatorKey as admin } from "../../../test/support/account-api.ts";
import { type PastRequest, writePast } from "../../features/billing/books.fixture.ts";
import { verifyLedger } from "../../features/billing/index.ts";

let site: AccountsUnderTest;
let key: string;
let otherKey: string;
let userId: string;

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();

beforeAll(async () => {
  site = await accountsUnderTest();
  key = await site.newUser("ursula");
  otherKey = await site.newUser("otto");
  userId = (await site.call("GET", "/api/v2/me", { key })).body.id;
  const past = (model: string, price: number, at: string): PastRequest => ({ userId, model, price, at });
  await writePast(site.database, [
    past("gantry/image", 30_000, daysAgo(1)),
    past("gantry/image", 30_000, daysAgo(2)),
    past("gantry/image", 30_001, daysAgo(6)),
    past("gantry/image", 0, daysAgo(1)),
    past("gantry/rules", 0, daysAgo(1)),
    past("b/same", 500, daysAgo(1)),
    past("a/same", 500, daysAgo(1)),
    past("gantry/image", 7_000_000, daysAgo(8)),
    ...Array.from({ length: 23 }, (_, n) => past(`many/model-${n}`, 1_000 + n, "2026-02-10T10:00:00Z")),
  ]);
});
afterAll(async () => {
  expect(await verifyLedger(site.database)).toEqual([]);
  await site.close();
});

const february = "start_date=2026-02-01T00:00:00&end_date=2026-02-28T23:59:59";

describe.each(["", "/api/v2"])("GET %s/{username}/expenses/", (prefix) => {
  const get = (username = "ursula", query = "", presented = key) =>
    site.call("GET", `${prefix}/${username}/expenses/${query}`, { key: presented });

  it("200: the last seven days, by spend and then by name, without what was free", async () => {
    const answer = await get();
    expect(answer.status).toBe(200);
    const { start_date, end_date, ...rest } = answer.body;
    expect(rest).toEqual({
      results: [
        {
          model_name: "gantry/image",
          request_count: 3,
          sub_total_spent: 0.090001,
          avg_per_request: expect.closeTo(0.030000333, 9),
        },
        { model_name: "a/same", request_count: 1, sub_total_spent: 0.0005, avg_per_request: 0.0005 },
        { model_name: "b/same", request_count: 1, sub_total_spent: 0.0005, avg_per_request: 0.0005 },
      ],
      page: 1,
      total_spent: 0.091001,
      total_count: 5,
      total_models: 3,
      total_pages: 1,
    });
    expect(Date.parse(end_date) - Date.parse(start_date)).toBe(7 * 86_400_000);
    expect(Math.abs(Date.parse(end_date) - Date.now())).toBeLessThan(10_000);
  });

  it("200: without the slash at the end too", async () => {
    expect((await site.call("GET", `${prefix}/ursula/expenses`, { key })).status).toBe(200);
  });

  it("200: ten a page, the totals over all of them, and an empty page past the last", async () => {
    const pages = await Promise.all(
      [1, 2, 3, 4, 9_007_199_254_740_991].map((n) => get("ursula", `?${february}&page=${n}`)),
    );
    expect(pages.map(({ body }) => body.results.length)).toEqual([10, 10, 3, 0, 0]);
    expect(pages.map(({ body }) => body.page)).toEqual([1, 2, 3, 4, 9_007_199_254_740_991]);
    for (const { status, body } of pages) {
      expect(status).toBe(200);
      expect(body).toMatchObject({
        start_date: "2026-02-01T00:00:00.000Z",
        end_date: "2026-02-28T23:59:59.000Z",
        total_spent: 0.023253,
        total_count: 23,
        total_models: 23,
        total_pages: 3,
      });
    }
    const names = pages.flatMap(({ body }) => body.results.map((one: { model_name: string }) => one.model_name));
    expect(names).toEqual(Array.from({ length: 23 }, (_, n) => `many/model-${22 - n}`));
  });

  it("200: nothing spent", async () => {
    const { body } = await get("ursula", "?start_date=2020-01-01T00:00:00&end_date=2020-01-02T00:00:00Z");
    expect(body).toEqual({
      results: [],
      start_date: "2020-01-01T00:00:00.000Z",
      end_date: "2020-01-02T00:00:00.000Z",
      page: 1,
      total_spent: 0,
      total_count: 0,
      total_models: 0,
      total_pages: 0,
    });
  });

  it("200: a zone is turned into UTC, both ends belong to the range", async () => {
    const range = "start_date=2026-02-10T12:00:00%2B02:00&end_date=2026-02-10T10:00:00";
    const { body } = await get("ursula", `?${range}`);
    expect(body).toMatchObject({ start_date: "2026-02-10T10:00:00.000Z", total_count: 23 });
    expect((await get("ursula", "?start_date=2026-02-10T10:00:00.000001&page=1")).body.total_models).toBe(3);
  });

  it("200: an admin sees everyone, and itself", async () => {
    expect((await get("ursula", "", admin)).body.total_count).toBe(5);
    expect((await get("admin", "", admin)).body.total_count).toBe(0);
    expect((await get("otto", "", otherKey)).body.total_count).toBe(0);
  });

  it.each([
    ["?start_date=yesterday", "start_date"],
    ["?start_date=", "start_date"],
    ["?end_date=2026-02-30T00:00:00", "end_date"],
    ["?page=one", "page"],
    ["?page=1.5", "page"],
    ["?page=", "page"],
    ["?page=0", "page"],
    ["?page=-1", "page"],
    ["?page=1&page=2", "page"],
    ["?page=99999999999999999999", "page"],
    ["?start_date=2026-02-02T00:00:00&end_date=2026-02-01T00:00:00", "start_date"],
    ["?end_date=2026-02-01T00:00:00", "start_date"],
    ["?start_date=2999-01-01T00:00:00", "start_date"],
  ])("400: %s", async (query, name) => {
    const refused = await get("ursula", query);
    expect(refused.status).toBe(400);
    expect(refused.body.detail).toMatchObject([
      { loc: ["query", name], type: "invalid_parameters", msg: expect.any(String), url: expect.any(String) },
    ]);
    expect(refused.headers["x-service-retryable"]).toBe("false");
  });

  it.each(["from_date=2030-01-01T00:00:00Z", "page_size=1"])(
    "400: ?%s, which they do not have, with those that they have",
    async (parameter) => {
      const refused = await get("ursula", `?${parameter}`);
      expect(refused.status).toBe(400);
      const msg = "Unknown parameter. Known: start_date, end_date, page";
      expect(refused.body.detail).toMatchObject([
        { type: "invalid_parameters", loc: ["query", parameter.split("=")[0]], msg },
      ]);
    },
  );

  it("400: all faults at once", async () => {
    const refused = await get("ursula", "?start_date=a&end_date=b&page=c");
    expect(refused.body.detail.map((one: { loc: string[] }) => one.loc[1])).toEqual(["start_date", "end_date", "page"]);
  });

  it("401: without a key, before anything else", async () => {
    expect((await site.call("GET", `${prefix}/unknown/expenses/?page=x`)).status).toBe(401);
    expect((await site.call("GET", `${prefix}/ursula/expenses/7/`)).status).toBe(401);
  });

  it("403: another user, whatever the parameters", async () => {
    const refused = await get("ursula", "?page=x", otherKey);
    expect(refused.status).toBe(403);
    expect(refused.body).toEqual({
      detail: "Only the user itself and an admin may see these expenses",
      status_code: 403,
    });
  });

  it("403: a key of an admin that was narrowed to models sees its own alone", async () => {
    const made = await site.call("POST", "/api/v2/keys", { key: admin, body: { models: ["gantry/image"] } });
    expect((await get("ursula", "", made.body.key)).status).toBe(403);
    expect((await get("admin", "", made.body.key)).status).toBe(200);
  });

  it.each(["unknown", "gantry", "anthropic", "UPPER", "x".repeat(60)])("404 before 403: %s", async (username) => {
    for (const presented of [otherKey, admin]) {
      const refused = await get(username, "", presented);
      expect(refused.status).toBe(404);
      expect(refused.body).toEqual({ detail: "User not found", status_code: 404 });
    }
  });

  it.each(["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const)("405: %s of a single one", async (method) => {
    const refused = await site.call(method, `${prefix}/ursula/expenses/7/`, {
      key,
      ...(method !== "GET" && { headers: { "content-type": "text/odd" }, body: "x" }),
    });
    expect(refused.status).toBe(405);
    expect(refused.body).toMatchObject({ status_code: 405 });
  });

  it.each(["POST", "PUT", "PATCH", "DELETE"] as const)("405: %s of the list", async (method) => {
    const refused = await site.call(method, `${prefix}/ursula/expenses/`, { key });
    expect([refused.status, refused.headers.allow]).toEqual([405, "GET, HEAD"]);
  });
});

it("hides no other route: users named like them have their expenses, and the routes stay what they are", async () => {
  for (const username of ["keys", "usage", "me"]) {
    const own = await site.newUser(username);
    for (const prefix of username === "keys" ? [""] : ["", "/api/v2"]) {
      const expenses = await site.call("GET", `${prefix}/${username}/expenses/`, { key: own });
      expect([expenses.status, expenses.body.total_count]).toEqual([200, 0]);
    }
    expect((await site.call("GET", `/api/v2/${username}`, { key: own })).body).not.toHaveProperty("total_spent");
  }
  expect((await site.call("DELETE", "/api/v2/keys/expenses", { key })).body.detail).toBe("Key not found");
  expect((await site.call("GET", "/api/v2/keys/expenses", { key })).headers.allow).toBe("PATCH, DELETE");
  expect((await site.call("GET", "/api/v2/expenses", { key })).status).toBe(404);
  expect((await site.call("GET", "/ursula", { key })).status).toBe(404);
});
