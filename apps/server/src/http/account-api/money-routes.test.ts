import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AccountsUnderTest, accountsUnderTest, operatorKey as admin } from "../../../test/support/account-api.ts";
import { writePast } from "../../features/billing/books.fixture.ts";
import { grantOpeningBalance, verifyLedger } from "../../features/billing/index.ts";

let site: AccountsUnderTest;
let userKey: string;

beforeAll(async () => {
  site = await accountsUnderTest();
  userKey = await site.newUser("ursula");
});
afterAll(async () => {
  expect(await verifyLedger(site.database)).toEqual([]);
  await site.close();
});

const credit = (
  username: string,
  body: unknown,
  { key = admin, idempotencyKey }: { key?: string; idempotencyKey?: string } = {},
) =>
  site.call("POST", `/api/v2/admin/users/${username}/credits`, {
    key,
    body,
    ...(idempotencyKey !== undefined && { headers: { "idempotency-key": idempotencyKey } }),
  });
const me = async (key: string) => (await site.call("GET", "/api/v2/me", { key })).body;

describe("GET /api/v2/me", () => {
  it("200: the balance as it is, gross of what is reserved", async () => {
    const key = await site.newUser("meike");
    const { id } = await me(key);
    await grantOpeningBalance(site.database, id, 12_500_000);
    await site.database.sql`
      insert into live_predictions (id, user_id, key_id, model_id, model_name, route, reserved_micros, queue_until)
      values ('pred_open', ${id}, 'key_x', 'mdl_x', 'a/b', 'sync', 30000, now())`;
    await site.database.sql`update wallets set reserved_micros = 30000 where user_id = ${id}`;
    expect(await me(key)).toEqual({
      id,
      username: "meike",
      kind: "person",
      team_role: null,
      acting_user: null,
      role: "user",
      plan: "free",
      balance: 12.5,
      reserved: 0.03,
      currency: "USD",
      storage: { used_bytes: 0, allowed_bytes: null },
    });
    await site.database.sql`delete from live_predictions`;
    await site.database.sql`update wallets set reserved_micros = 0`;
  });
});

describe("POST /api/v2/admin/users/{username}/credits", () => {
  it("201: the money is there at once, with its entry", async () => {
    const key = await site.newUser("carla");
    const made = await credit("carla", { amount: 10.25, reason: " first top-up " });
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      balance: 10.25,
      currency: "USD",
      entry: { id: expect.any(Number), amount: 10.25, reason: "first top-up", created_at: expect.any(String) },
    });
    expect(await me(key)).toMatchObject({ balance: 10.25, reserved: 0 });
  });

  it("201: a negative amount takes away, below zero too", async () => {
    const key = await site.newUser("nico");
    await credit("nico", { amount: 1, reason: "x" });
    const made = await credit("nico", { amount: -3.000001, reason: "refunded elsewhere" });
    expect(made.body).toMatchObject({ balance: -2.000001, entry: { amount: -3.000001 } });
    expect((await me(key)).balance).toBe(-2.000001);
    const entries = await site.database.sql`
      select kind, from_account, to_account, amount_micros from ledger
      where 'user:' || ${(await me(key)).id} in (from_account, to_account) order by id`;
    const wallet = `user:${(await me(key)).id}`;
    expect([...entries]).toEqual([
      { kind: "credit", from_account: "outside", to_account: wallet, amount_micros: 1_000_000 },
      { kind: "correction", from_account: wallet, to_account: "outside", amount_micros: 3_000_001 },
    ]);
  });

  it("201: twenty at the same moment are all counted", async () => {
    const key = await site.newUser("twenty");
    const made = await Promise.all(Array.from({ length: 20 }, () => credit("twenty", { amount: 0.1, reason: "x" })));
    expect(made.every((one) => one.status === 201)).toBe(true);
    expect((await me(key)).balance).toBe(2);
    expect(new Set(made.map((one) => one.body.balance)).size).toBe(20);
  });

  it("201: with an Idempotency-Key a repeat moves nothing and answers the same entry, also at the same moment", async () => {
    const key = await site.newUser("ida");
    const body = { amount: 5, reason: "invoice 7" };
    const both = await Promise.all([1, 2, 3].map(() => credit("ida", body, { idempotencyKey: "invoice-7" })));
    const again = await credit("ida", body, { idempotencyKey: "invoice-7" });
    expect([...both, again].map((one) => one.status)).toEqual([201, 201, 201, 201]);
    expect(new Set([...both, again].map((one) => JSON.stringify(one.body))).size).toBe(1);
    expect((await me(key)).balance).toBe(5);
    await credit("ida", body, { idempotencyKey: "invoice-8" });
    expect((await me(key)).balance).toBe(10);
    expect((await credit("ida", body, { idempotencyKey: "invoice-7" })).body).toEqual(again.body);
  });

  it("201: the same Idempotency-Key for another user, or by another admin, is another credit", async () => {
    const [kim, lea] = [await site.newUser("kim"), await site.newUser("lea")];
    const second = await site.newUser("second", { role: "admin" });
    const body = { amount: 1, reason: "x" };
    await credit("kim", body, { idempotencyKey: "k" });
    await credit("lea", body, { idempotencyKey: "k" });
    await credit("lea", body, { idempotencyKey: "k", key: second });
    expect([(await me(kim)).balance, (await me(lea)).balance]).toEqual([1, 2]);
  });

  it.each([
    ["another amount", { amount: 6, reason: "a" }],
    ["the opposite amount", { amount: -5, reason: "a" }],
    ["another reason", { amount: 5, reason: "b" }],
  ])("422: an Idempotency-Key that was used with %s", async (name, body) => {
    const username = name.replaceAll(" ", "-");
    const key = await site.newUser(username);
    await credit(username, { amount: 5, reason: "a" }, { idempotencyKey: "k" });
    const refused = await credit(username, body, { idempotencyKey: "k" });
    expect(refused.status).toBe(422);
    expect(refused.body.detail).toMatchObject([{ type: "idempotency_key_reused", loc: ["header", "idempotency-key"] }]);
    expect((await me(key)).balance).toBe(5);
  });

  it.each([
    [{}, ["missing", "missing"]],
    [{ amount: 0, reason: "x" }, ["value_error"]],
    [{ amount: 0.0000001, reason: "" }, ["value_error", "sequence_too_short"]],
    [{ amount: 2_000_000, reason: "x" }, ["less_than_equal"]],
    [{ amount: 1, reason: "x", user: "y" }, ["extra_forbidden"]],
    [[1], ["json_invalid"]],
  ])("422: %j", async (body, types) => {
    const refused = await credit("ursula", body);
    expect(refused.status).toBe(422);
    expect(refused.body.detail.map((one: { type: string }) => one.type)).toEqual(types);
  });

  it("422: a key with a space, no body, and a balance beyond all measure", async () => {
    expect((await credit("ursula", { amount: 1, reason: "x" }, { idempotencyKey: "a b" })).body.detail).toMatchObject([
      { loc: ["header", "idempotency-key"] },
    ]);
    expect((await credit("ursula", undefined)).status).toBe(422);
    await site.newUser("croesus");
    const id = (await site.database.sql<[{ id: string }]>`select id from users where username = 'croesus'`)[0].id;
    await grantOpeningBalance(site.database, id, 999_999_999_000_000);
    expect((await credit("croesus", { amount: 1, reason: "x" })).status).toBe(201);
    expect((await credit("croesus", { amount: 0.000001, reason: "x" })).body.detail).toMatchObject([
      { type: "value_error", loc: ["body", "amount"] },
    ]);
    await credit("croesus", { amount: -1_000_000, reason: "x" });
  });

  it("401: without a key", async () => {
    expect((await site.call("POST", "/api/v2/admin/users/ursula/credits", { body: {} })).status).toBe(401);
  });

  it("403: not an admin, or a narrowed key of one", async () => {
    expect((await credit("ursula", { amount: 1, reason: "x" }, { key: userKey })).status).toBe(403);
    const narrowed = await site.call("POST", "/api/v2/keys", { key: admin, body: { monthly_limit: 5 } });
    expect((await credit("admin", { amount: 1, reason: "x" }, { key: narrowed.body.key })).status).toBe(403);
  });

  it.each(["unknown", "gantry"])("404: %s", async (username) => {
    const refused = await credit(username, { amount: 1, reason: "x" });
    expect(refused.body).toEqual({ detail: "User not found", status_code: 404 });
  });

  it("405: reading them there", async () => {
    expect((await site.call("GET", "/api/v2/admin/users/ursula/credits", { key: admin })).status).toBe(405);
  });
});

describe("GET /api/v2/admin/ledger", () => {
  it("200: that the books are right, or where they are not", async () => {
    const check = () => site.call("GET", "/api/v2/admin/ledger", { key: admin });
    const { status, body } = await check();
    expect(status).toBe(200);
    expect(body).toEqual({ accounts: expect.any(Number), sum: 0, currency: "USD", discrepancies: [] });
    const { id } = await me(await site.newUser("lena"));
    await site.database.sql`update wallets set running = 2 where user_id = ${id}`;
    const [first, second] = await Promise.all([check(), check()]);
    expect(first.body).toEqual({
      ...body,
      accounts: body.accounts + 1,
      discrepancies: [{ rule: "wallet_running", subject: id, expected: 0, found: 2 }],
    });
    expect(second.body).toEqual(first.body);
    await site.database.sql`update wallets set running = 0 where user_id = ${id}`;
    expect((await check()).body.discrepancies).toEqual([]);
  });

  it("403: not an admin", async () => {
    expect((await site.call("GET", "/api/v2/admin/ledger", { key: userKey })).status).toBe(403);
  });
});

describe("GET /api/v2/admin/overview", () => {
  it("200: what an operator wants on one page, with books that add up", async () => {
    const before = (await site.call("GET", "/api/v2/admin/overview", { key: admin })).body;
    const key = await site.newUser("olga");
    await credit("olga", { amount: 1, reason: "x" });
    const { id } = await me(key);
    const [now, daysAgo] = [new Date().toISOString(), new Date(Date.now() - 3 * 86_400_000).toISOString()];
    await writePast(site.database, [
      { userId: id, at: now, price: 1_500_000, model: "olga/dear" },
      { userId: id, at: now, price: 0, model: "olga/free" },
      { userId: id, at: daysAgo, price: 250_000, model: "olga/other" },
    ]);
    const { status, body } = await site.call("GET", "/api/v2/admin/overview", { key: admin });
    expect(status).toBe(200);
    expect(body.users).toEqual({
      ...before.users,
      total: before.users.total + 1,
      below_zero: before.users.below_zero + 1,
    });
    expect(body).toMatchObject({
      models: { total: 0, public: 0, private: 0, inactive: 0 },
      predictions: { running: 0, waiting: 0 },
      nodes: 0,
      today: { requests: 2, paid_requests: 1, spent: 1.5 },
      last_7_days: { requests: 3, paid_requests: 2, spent: 1.75 },
      top_models: [
        { model_name: "olga/dear", requests: 1, spent: 1.5 },
        { model_name: "olga/other", requests: 1, spent: 0.25 },
        { model_name: "olga/free", requests: 1, spent: 0 },
      ],
      currency: "USD",
    });
    expect(body.books.platform).toBe(1.75);
    expect(body.books.sum).toBe(0);
    expect(body.books.balances).toBeCloseTo(before.books.balances - 0.75, 6);
  });

  it("200: books that add up beyond what a number of JavaScript tells apart", async () => {
    const [id, other] = [(await me(await site.newUser("ottilie"))).id, (await me(await site.newUser("otmar"))).id];
    for (const owner of [id, other]) await grantOpeningBalance(site.database, owner, Number.MAX_SAFE_INTEGER);
    const at = new Date().toISOString();
    const books = async () => (await site.call("GET", "/api/v2/admin/overview", { key: admin })).body.books;
    for (let n = 0; n < 3; n++) {
      await writePast(site.database, [{ userId: id, at, price: 1 }]);
      expect((await books()).sum).toBe(0);
    }
  });

  it("403: not an admin", async () => {
    expect((await site.call("GET", "/api/v2/admin/overview", { key: userKey })).status).toBe(403);
  });
});
