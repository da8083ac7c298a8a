import { ledgerEntryRecord } from "@gantry/wire";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AccountsUnderTest, accountsUnderTest, operatorKey as admin } from "../../../test/support/account-api.ts";
import { writePast } from "../../features/billing/books.fixture.ts";
import { verifyLedger } from "../../features/billing/index.ts";

let site: AccountsUnderTest;
let key: string;
let otherKey: string;

const users = "/api/v2/admin/users";

beforeAll(async () => {
  site = await accountsUnderTest();
  key = await site.newUser("ursula");
  otherKey = await site.newUser("otto");
  const { id: userId } = (await site.call("GET", "/api/v2/me", { key })).body;
  await writePast(site.database, [
    { userId, at: "2026-01-31T12:00:00.000123Z", price: 30_000, id: "pred_a" },
    { userId, at: "2026-01-31T13:00:00Z", price: 0, id: "pred_free" },
  ]);
  const headers = { "idempotency-key": "invoice-1907" };
  const add = { amount: 5, reason: "invoice 1907" };
  await site.call("POST", `${users}/ursula/credits`, { key: admin, body: add, headers });
  await site.call("POST", `${users}/ursula/credits`, { key: admin, body: { amount: -1.5, reason: "too much" } });
});
afterAll(async () => {
  expect(await verifyLedger(site.database)).toEqual([]);
  await site.close();
});

const ways: [string, () => string][] = [
  ["/api/v2/ledger", () => key],
  [`${users}/ursula/ledger`, () => admin],
];

describe.each(ways)("GET %s", (path, keyOf) => {
  const get = (query = "") => site.call("GET", `${path}${query}`, { key: keyOf() });

  it("200: what came in and what was taken, newest first, without who did it", async () => {
    const { status, body, text } = await get();
    expect(status).toBe(200);
    const [id, created_at] = [expect.any(Number), expect.any(String)];
    expect(body).toEqual({
      results: [
        { id, created_at, kind: "correction", amount: -1.5, reference: null, model_name: null, reason: "too much" },
        { id, created_at, kind: "credit", amount: 5, reference: null, model_name: null, reason: "invoice 1907" },
        {
          id,
          created_at: "2026-01-31T12:00:00.000123Z",
          kind: "charge",
          amount: -0.03,
          reference: "pred_a",
          model_name: "ann/model",
          reason: null,
        },
      ],
      page: 1,
      page_size: 20,
      total_count: 3,
      total_pages: 1,
    });
    for (const entry of body.results) expect(ledgerEntryRecord.strict().safeParse(entry).success).toBe(true);
    expect(text).not.toMatch(/usr_|platform|outside/);
  });

  it.each([
    ["?page=2&page_size=1", ["credit"], 3],
    ["?page=1000000000&page_size=100", [], 3],
    ["?to_date=2026-01-31T12:00:00.000123", ["charge"], 1],
    ["?from_date=2026-01-31T12:00:00.000123Z&to_date=2026-01-31T12:00:00.000123Z", ["charge"], 1],
    ["?from_date=2026-01-31T12:00:00.000124", ["correction", "credit"], 2],
    ["?from_date=2099-01-01T00:00:00", [], 0],
  ])("200: %s", async (query, kinds, total) => {
    const { status, body } = await get(query);
    expect(status).toBe(200);
    expect(body.results.map((one: { kind: string }) => one.kind)).toEqual(kinds);
    expect(body.total_count).toBe(total);
  });

  it.each([
    ["?page=0", "greater_than_equal", "page"],
    ["?page_size=101", "less_than_equal", "page_size"],
    ["?from_date=yesterday", "datetime_parsing", "from_date"],
    ["?to_date=2026-02-30T00:00:00", "datetime_parsing", "to_date"],
    ["?from_date=2026-01-02T00:00:00&to_date=2026-01-01T00:00:00", "value_error", "from_date"],
    ["?start_date=2026-01-02T00:00:00", "extra_forbidden", "start_date"],
  ])("422: %s", async (query, type, name) => {
    const refused = await get(query);
    expect(refused.status).toBe(422);
    expect(refused.body.detail).toMatchObject([{ type, loc: ["query", name] }]);
  });

  it("401: without a key", async () => {
    expect((await site.call("GET", path)).status).toBe(401);
  });

  it("405: it is read only", async () => {
    const refused = await site.call("POST", path, { key: keyOf(), body: {} });
    expect([refused.status, refused.headers.allow]).toEqual([405, "GET, HEAD"]);
  });
});

it("200: of another user nothing is in it", async () => {
  expect((await site.call("GET", "/api/v2/ledger", { key: otherKey })).body).toMatchObject({
    results: [],
    total_count: 0,
    total_pages: 0,
  });
});

describe(`GET ${users}/{username}/ledger`, () => {
  it("403: not an admin, its own too; an admin's key with a limit", async () => {
    for (const username of ["ursula", "otto"]) {
      expect((await site.call("GET", `${users}/${username}/ledger`, { key: otherKey })).status).toBe(403);
    }
    const limited = await site.call("POST", "/api/v2/keys", { key: admin, body: { monthly_limit: 1 } });
    expect((await site.call("GET", `${users}/otto/ledger`, { key: limited.body.key })).status).toBe(403);
  });

  it.each(["unknown", "gantry", "No_Name"])("404: %s, for an admin; others learn nothing", async (username) => {
    const ask = (presented: string) => site.call("GET", `${users}/${username}/ledger?page=x`, { key: presented });
    const unknown = await ask(admin);
    expect([unknown.status, unknown.body.detail]).toEqual([404, "User not found"]);
    expect((await ask(otherKey)).status).toBe(403);
  });
});
