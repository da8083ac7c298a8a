import { userRecord } from "@gantry/wire";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AccountsUnderTest, accountsUnderTest, operatorKey as admin } from "../../../test/support/account-api.ts";
import { verifyPassword } from "../../features/accounts/index.ts";

let site: AccountsUnderTest;
let userKey: string;

beforeAll(async () => {
  site = await accountsUnderTest();
  userKey = await site.newUser("ursula");
});
afterAll(() => site.close());

const users = "/api/v2/admin/users";
const create = (body: object, key = admin) => site.call("POST", users, { key, body });
const change = (username: string, body: object, key = admin) =>
  site.call("PATCH", `${users}/${username}`, { key, body });
const storedPassword = async (username: string): Promise<string | null | undefined> => {
  const [row] = await site.database.sql<{ password_hash: string | null }[]>`
    select password_hash from users where username = ${username}`;
  return row?.password_hash;
};

describe("POST /api/v2/admin/users", () => {
  it("201: by default a user on the free plan", async () => {
    const made = await create({ username: "ann" });
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      id: expect.stringMatching(/^usr_/),
      username: "ann",
      kind: "person",
      role: "user",
      plan: "free",
      disabled: false,
      deletion_requested_at: null,
      balance: 0,
      balance_low: false,
      reserved: 0,
      created_at: expect.any(String),
    });
    expect(userRecord.safeParse(made.body).success).toBe(true);
  });

  it("201: role, plan and password as asked; the password is kept as a hash only", async () => {
    const made = await create({ username: "0-boss", role: "admin", plan: "pro", password: "correct horse" });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ role: "admin", plan: "pro" });
    expect(made.text).not.toContain("horse");
    const stored = await storedPassword("0-boss");
    expect(await verifyPassword("correct horse", stored ?? "")).toBe(true);
    expect(site.logged()).not.toContain("horse");
  });

  it("403: not an admin", async () => {
    const refused = await create({ username: "eve", role: "admin" }, userKey);
    expect(refused.status).toBe(403);
    expect(refused.body).toEqual({ detail: "Only an admin may do this", status_code: 403 });
  });

  it("409: the name is taken, once of two at the same moment", async () => {
    expect((await create({ username: "ursula" })).status).toBe(409);
    expect((await create({ username: "admin" })).status).toBe(409);
    const both = await Promise.all([create({ username: "twin" }), create({ username: "twin" })]);
    expect(both.map((answer) => answer.status).toSorted()).toEqual([201, 409]);
  });

  it.each([
    [{}, "missing", ["body", "username"]],
    [{ username: "gantry" }, "value_error", ["body", "username"]],
    [{ username: "console" }, "value_error", ["body", "username"]],
    [{ username: "A" }, "value_error", ["body", "username"]],
    [{ username: "-dash" }, "value_error", ["body", "username"]],
    [{ username: "x".repeat(40) }, "value_error", ["body", "username"]],
    [{ username: 5 }, "string_type", ["body", "username"]],
    [{ username: "okay", role: "system" }, "one_of", ["body", "role"]],
    [{ username: "okay", plan: "gold" }, "one_of", ["body", "plan"]],
    [{ username: "okay", password: "short" }, "sequence_too_short", ["body", "password"]],
    [{ username: "okay", balance: 5 }, "extra_forbidden", ["body", "balance"]],
  ])("422: %j", async (body, type, loc) => {
    const refused = await create(body);
    expect(refused.status).toBe(422);
    expect(refused.body.detail).toMatchObject([{ type, loc }]);
  });

  it("422: no body at all", async () => {
    expect((await site.call("POST", users, { key: admin })).body.detail).toMatchObject([{ loc: ["body", "username"] }]);
  });
});

describe("GET /api/v2/admin/users", () => {
  it("200: everyone in pages, newest first, without the owners of the built-in models", async () => {
    await create({ username: "newest" });
    const all = await site.call("GET", `${users}?page_size=100`, { key: admin });
    expect(all.status).toBe(200);
    const names: string[] = all.body.results.map((one: { username: string }) => one.username);
    expect(names[0]).toBe("newest");
    expect(names).toContain("ursula");
    expect(names.at(-1)).toBe("admin");
    expect(names).not.toContain("gantry");
    expect(all.body).toMatchObject({ page: 1, total_count: names.length, total_pages: 1 });
    expect(all.text).not.toMatch(/password|scrypt/);
    const last = await site.call("GET", `${users}?page_size=1&page=${names.length}`, { key: admin });
    expect(last.body.results).toMatchObject([{ username: "admin", role: "admin", plan: "unlimited" }]);
  });

  it("200: with what each has, and what of it is reserved", async () => {
    await create({ username: "rich" });
    await create({ username: "poor" });
    await site.call("POST", `${users}/rich/credits`, { key: admin, body: { amount: 12.5, reason: "x" } });
    await site.call("POST", `${users}/poor/credits`, { key: admin, body: { amount: -0.25, reason: "x" } });
    await site.database.sql`
      update wallets set reserved_micros = 30000 where user_id = (select id from users where username = 'rich')`;
    const { results } = (await site.call("GET", `${users}?page_size=2`, { key: admin })).body;
    expect(results).toMatchObject([
      { username: "poor", balance: -0.25, reserved: 0 },
      { username: "rich", balance: 12.5, reserved: 0.03 },
    ]);
    const changed = await site.call("PATCH", `${users}/rich`, { key: admin, body: { plan: "pro" } });
    expect(changed.body).toMatchObject({ plan: "pro", balance: 12.5, reserved: 0.03 });
  });

  it("403: not an admin", async () => {
    expect((await site.call("GET", users, { key: userKey })).status).toBe(403);
  });

  it("422: a wrong page", async () => {
    expect((await site.call("GET", `${users}?page=0`, { key: admin })).status).toBe(422);
  });
});

describe("PATCH /api/v2/admin/users/{username}", () => {
  it("200: a new plan and role act at once", async () => {
    const key = await site.newUser("pat");
    expect((await site.call("GET", "/api/v2/me", { key })).body).toMatchObject({ role: "user", plan: "free" });
    const changed = await change("pat", { plan: "pro", role: "admin" });
    expect(changed.status).toBe(200);
    expect(changed.body).toMatchObject({ username: "pat", plan: "pro", role: "admin", disabled: false });
    expect((await site.call("GET", "/api/v2/me", { key })).body).toMatchObject({ role: "admin", plan: "pro" });
    expect((await change("pat", { role: "user" })).status).toBe(200);
    expect((await site.call("GET", users, { key })).status).toBe(403);
  });

  it("200: a disabled user's keys are 401 at once and work again afterwards", async () => {
    const key = await site.newUser("dora");
    expect((await site.call("GET", "/api/v2/me", { key })).status).toBe(200);
    expect((await change("dora", { disabled: true })).body).toMatchObject({ disabled: true, plan: "free" });
    expect((await site.call("GET", "/api/v2/me", { key })).status).toBe(401);
    expect((await change("dora", { disabled: false })).body.disabled).toBe(false);
    expect((await site.call("GET", "/api/v2/me", { key })).status).toBe(200);
  });

  it("200: a password is set, kept by other changes, and taken away", async () => {
    await create({ username: "paul" });
    expect((await change("paul", { password: "battery staple" })).status).toBe(200);
    await change("paul", { plan: "pro" });
    expect(await verifyPassword("battery staple", (await storedPassword("paul")) ?? "")).toBe(true);
    await change("paul", { password: null });
    expect(await storedPassword("paul")).toBeNull();
  });

  it("403: not an admin, not even for oneself", async () => {
    expect((await change("ursula", { plan: "unlimited" }, userKey)).status).toBe(403);
  });

  it.each(["unknown", "gantry", "anthropic", "UPPER"])("404: %s", async (username) => {
    const refused = await change(username, { plan: "pro" });
    expect(refused.status).toBe(404);
    expect(refused.body).toEqual({ detail: "User not found", status_code: 404 });
  });

  it("409: the last admin stays one, also when two go at the same moment", async () => {
    const { results } = (await site.call("GET", `${users}?page_size=100`, { key: admin })).body;
    for (const one of results)
      if (one.role === "admin" && one.username !== "admin") await change(one.username, { role: "user" });
    for (const body of [{ role: "user" }, { disabled: true }]) {
      const refused = await change("admin", body);
      expect(refused.status).toBe(409);
      expect(refused.body.detail).toContain("last active admin");
    }
    const second = await site.newUser("second", { role: "admin" });
    const both = await Promise.all([
      change("admin", { disabled: true }, second),
      change("second", { disabled: true }, admin),
    ]);
    // The slower of the two finds itself alone (409), or was already disabled when it knocked (401).
    expect(both.filter((answer) => answer.status === 200)).toHaveLength(1);
    expect(both.filter((answer) => answer.status === 409 || answer.status === 401)).toHaveLength(1);
    const [left, undo] = both[0]?.status === 200 ? [second, "admin"] : [admin, "second"];
    expect((await change(undo, { disabled: false }, left)).status).toBe(200);
  });

  it.each([
    [{}, "value_error", ["body"]],
    [{ role: "system" }, "one_of", ["body", "role"]],
    [{ plan: 3 }, "string_type", ["body", "plan"]],
    [{ disabled: "yes" }, "bool_parsing", ["body", "disabled"]],
    [{ username: "other" }, "extra_forbidden", ["body", "username"]],
  ])("422: %j", async (body, type, loc) => {
    const refused = await change("ursula", body);
    expect(refused.status).toBe(422);
    expect(refused.body.detail).toMatchObject([{ type, loc }]);
  });
});

describe("POST /api/v2/admin/users/{username}/keys", () => {
  const keysOf = (username: string, body?: object, key = admin) =>
    site.call("POST", `${users}/${username}/keys`, { key, body });

  it("201: the key is that user's", async () => {
    const made = await keysOf("ursula", { name: "from the admin" });
    expect(made.status).toBe(201);
    expect(made.body.name).toBe("from the admin");
    expect((await site.call("GET", "/api/v2/me", { key: made.body.key })).body.username).toBe("ursula");
    expect((await site.call("GET", "/api/v2/keys", { key: userKey })).text).toContain(made.body.id);
  });

  it("403: not an admin", async () => {
    expect((await keysOf("admin", {}, userKey)).status).toBe(403);
  });

  it.each(["unknown", "gantry", "anthropic"])("404: %s", async (username) => {
    expect((await keysOf(username)).status).toBe(404);
  });

  it("422: a wrong body", async () => {
    expect((await keysOf("ursula", { models: ["x"] })).status).toBe(422);
  });

  it("lists them without secrets, and revokes one", async () => {
    const made = await site.call("POST", `${users}/ursula/keys`, {
      key: admin,
      body: { name: "to revoke", monthly_limit: 3 },
    });
    const listed = await site.call("GET", `${users}/ursula/keys`, { key: admin });
    const found = listed.body.results.find(({ id }: { id: string }) => id === made.body.id);
    expect(found).toMatchObject({ name: "to revoke", monthly_limit: 3, spent: 0 });
    expect(found).not.toHaveProperty("key");
    const address = `${users}/ursula/keys/${made.body.id}`;
    expect((await site.call("DELETE", address, { key: admin })).status).toBe(204);
    expect((await site.call("GET", "/api/v2/me", { key: made.body.key })).status).toBe(401);
    expect((await site.call("DELETE", address, { key: admin })).status).toBe(404);
    expect((await site.call("GET", `${users}/unknown/keys`, { key: admin })).status).toBe(404);
    expect((await site.call("GET", `${users}/ursula`, { key: admin })).body).toMatchObject({ username: "ursula" });
    expect((await site.call("GET", `${users}/unknown`, { key: admin })).status).toBe(404);
  });
});
