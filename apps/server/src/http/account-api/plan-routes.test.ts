import { planRecord } from "@gantry/wire";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AccountsUnderTest, accountsUnderTest, operatorKey as admin } from "../../../test/support/account-api.ts";

let site: AccountsUnderTest;
let userKey: string;

beforeAll(async () => {
  site = await accountsUnderTest();
  userKey = await site.newUser("ursula");
});
afterAll(() => site.close());

const plans = "/api/v2/admin/plans";
const users = "/api/v2/admin/users";
const put = (name: string, body: unknown, key = admin) => site.call("PUT", `${plans}/${name}`, { key, body });
const remove = (name: string, key = admin) => site.call("DELETE", `${plans}/${name}`, { key });
const limits = (requestsPerMinute: unknown, parallel: unknown) => ({
  requests_per_minute: requestsPerMinute,
  parallel,
});

describe("GET /api/v2/admin/plans", () => {
  it("200: all with their limits and how many have them, in pages", async () => {
    const all = await site.call("GET", plans, { key: admin });
    expect(all.status).toBe(200);
    expect(all.body).toEqual({
      results: [
        { name: "free", requests_per_minute: 60, parallel: 4, storage_bytes: null, users: 1 },
        { name: "pro", requests_per_minute: 600, parallel: 32, storage_bytes: null, users: 0 },
        // The admin; owners of built-in models do not count.
        { name: "unlimited", requests_per_minute: null, parallel: null, storage_bytes: null, users: 1 },
      ],
      page: 1,
      page_size: 20,
      total_count: 3,
      total_pages: 1,
    });
    for (const one of all.body.results) expect(planRecord.safeParse(one).error).toBeUndefined();
    const second = await site.call("GET", `${plans}?page_size=2&page=2`, { key: admin });
    expect(second.body.results).toMatchObject([{ name: "unlimited" }]);
    expect((await site.call("GET", `${plans}?page=0`, { key: admin })).status).toBe(422);
  });

  it("403: not an admin, whatever is asked", async () => {
    for (const refused of [
      await site.call("GET", plans, { key: userKey }),
      await put("mine", limits(null, null), userKey),
      await remove("pro", userKey),
    ]) {
      expect(refused.status).toBe(403);
    }
  });
});

describe("PUT /api/v2/admin/plans/{name}", () => {
  it("201 for a new one, 200 for a change, also of a built-in one; users can have it at once", async () => {
    const made = await put("team", limits(120, 8));
    expect([made.status, made.body]).toEqual([
      201,
      { name: "team", requests_per_minute: 120, parallel: 8, storage_bytes: null, users: 0 },
    ]);
    const key = await site.newUser("tom", { plan: "team" });
    expect((await site.call("GET", "/api/v2/me", { key })).body.plan).toBe("team");
    const changed = await put("team", limits(null, 1));
    expect([changed.status, changed.body]).toEqual([
      200,
      { name: "team", requests_per_minute: null, parallel: 1, storage_bytes: null, users: 1 },
    ]);
    expect((await put("pro", limits(2_147_483_647, 64))).body).toMatchObject({ parallel: 64 });
    const moved = await site.call("PATCH", `${users}/ursula`, { key: admin, body: { plan: "team" } });
    expect([moved.status, moved.body.plan]).toEqual([200, "team"]);
  });

  it.each([
    [{}, ["missing body.requests_per_minute", "missing body.parallel"]],
    [undefined, ["missing body.requests_per_minute", "missing body.parallel"]],
    [limits(0, -1), ["greater_than_equal body.requests_per_minute", "greater_than_equal body.parallel"]],
    [limits(1.5, "4"), ["int_parsing body.requests_per_minute", "int_parsing body.parallel"]],
    [limits(2_147_483_648, 1), ["less_than_equal body.requests_per_minute"]],
    [{ ...limits(1, 1), price: 5 }, ["extra_forbidden body.price"]],
  ])("422: %j", async (body, expected) => {
    const refused = await put("wrong", body);
    expect(refused.status).toBe(422);
    const found = refused.body.detail.map((one: { type: string; loc: string[] }) => `${one.type} ${one.loc.join(".")}`);
    expect(found).toEqual(expected);
  });

  it.each(["A", "-a", "a%20b", "x".repeat(40)])("422: the name %s", async (name) => {
    const refused = await put(name, limits(1, 1));
    expect(refused.status).toBe(422);
    expect(refused.body.detail).toMatchObject([{ type: "value_error", loc: ["path", "name"] }]);
  });
});

describe("DELETE /api/v2/admin/plans/{name}", () => {
  it("204 for an unused plan, 404 for an unknown one", async () => {
    await put("spare", limits(1, 1));
    expect((await remove("spare")).status).toBe(204);
    expect((await remove("spare")).status).toBe(404);
  });

  it("409 for a plan in use, and for built-in plans", async () => {
    await put("taken", limits(1, 1));
    await site.newUser("tina", { plan: "taken" });
    const refused = await remove("taken");
    expect([refused.status, refused.body.detail]).toEqual([
      409,
      "The plan has 1 users. Move them to another plan first.",
    ]);
    for (const name of ["free", "pro", "unlimited"]) expect((await remove(name)).status).toBe(409);
  });

  it("never leaves a user without a plan, in any order", async () => {
    for (let n = 0; n < 10; n++) {
      await put("brief", limits(1, 1));
      const [made, gone] = await Promise.all([
        site.call("POST", users, { key: admin, body: { username: `racer-${n}`, plan: "brief" } }),
        remove("brief"),
      ]);
      expect([
        [201, 409],
        [422, 204],
      ]).toContainEqual([made.status, gone.status]);
      if (made.status === 201) {
        await site.call("PATCH", `${users}/racer-${n}`, { key: admin, body: { plan: "free" } });
      }
    }
  });
});

it("422: an unknown plan; the error lists the known ones", async () => {
  for (const plan of ["gold", ""]) {
    for (const refused of [
      await site.call("POST", users, { key: admin, body: { username: "okay", plan } }),
      await site.call("PATCH", `${users}/ursula`, { key: admin, body: { plan } }),
    ]) {
      expect(refused.status).toBe(422);
      expect(refused.body.detail).toMatchObject([
        { type: "one_of", loc: ["body", "plan"], ctx: { expected: expect.arrayContaining(["free", "pro", "team"]) } },
      ]);
    }
  }
});
