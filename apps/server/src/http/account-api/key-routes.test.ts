import { keyRecord } from "@gantry/wire";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AccountsUnderTest, accountsUnderTest, operatorKey } from "../../../test/support/account-api.ts";
import { asPresentedSession } from "../../features/accounts/index.ts";

const unknownId = "key_00000000000000000000000000";
let site: AccountsUnderTest;
let key: string;

beforeAll(async () => {
  site = await accountsUnderTest();
  key = await site.newUser("kim");
});
afterAll(() => site.close());

const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString();
const statusWith = async (presented: string): Promise<number> =>
  (await site.call("GET", "/api/v2/me", { key: presented })).status;

describe("who may come in", () => {
  it.each([
    ["X-API-KEY", (k: string) => k],
    ["x-api-key", (k: string) => k],
    ["X-Api-Key", (k: string) => ` ${k} `],
    ["Authorization", (k: string) => `Bearer ${k}`],
    ["AUTHORIZATION", (k: string) => `bearer  ${k}`],
    ["authorization", (k: string) => k],
  ])("200: the key in %s", async (header, write) => {
    const me = await site.call("GET", "/api/v2/me", { headers: { [header]: write(key) } });
    expect(me.status).toBe(200);
    expect(me.body.username).toBe("kim");
  });

  it("401: no key, with what to do", async () => {
    const refused = await site.call("GET", "/api/v2/me");
    expect(refused.status).toBe(401);
    expect(refused.body).toEqual({
      error: { code: "unauthorized", message: "API key required. Send it as X-API-KEY or Authorization: Bearer." },
    });
    expect(refused.headers).not.toHaveProperty("x-service-retryable");
    expect(refused.headers["www-authenticate"]).toBe("Bearer");
  });

  it.each([
    ["a wrong secret under a right public part", () => `${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`],
    ["a right secret under another public part", () => `gk_000000000000_${key.slice(16)}`],
    ["an unknown long text", () => "x".repeat(64)],
    ["a short text", () => "secret"],
    ["a text longer than any key", () => "x".repeat(2000)],
    ["half a key", () => key.slice(0, 15)],
  ])("401: %s", async (_name, present) => {
    const refused = await site.call("GET", "/api/v2/keys", { key: present() });
    expect(refused.status).toBe(401);
    expect(refused.body).toEqual({ error: { code: "unauthorized", message: "Invalid API key" } });
  });

  it.each([
    ["GET", "/api/v2/me"],
    ["GET", "/api/v2/keys"],
    ["POST", "/api/v2/keys"],
    ["DELETE", `/api/v2/keys/${unknownId}`],
    ["POST", `/api/v2/keys/${unknownId}/rotate`],
    ["GET", "/api/v2/admin/users"],
    ["POST", "/api/v2/admin/users"],
    ["PATCH", "/api/v2/admin/users/kim"],
    ["POST", "/api/v2/admin/users/kim/keys"],
  ] as const)("401 before anything else: %s %s", async (method, url) => {
    const headers = { "content-type": "application/json" };
    const refused = await site.call(method, url, { headers, ...(method !== "GET" && { body: "{not json" }) });
    expect(refused.status).toBe(401);
  });

  it("405: a method that the path does not have", async () => {
    const refused = await site.call("PUT", "/api/v2/keys", { key, body: {} });
    expect(refused.status).toBe(405);
    expect(refused.headers.allow).toBe("GET, HEAD, POST");
  });
});

describe("GET /api/v2/me", () => {
  it("200: the caller, with the wallet in dollars", async () => {
    const me = await site.call("GET", "/api/v2/me/", { key });
    expect(me.status).toBe(200);
    expect(me.body).toEqual({
      id: expect.stringMatching(/^usr_/),
      username: "kim",
      kind: "person",
      role: "user",
      team_role: null,
      acting_user: null,
      plan: "free",
      balance: 0,
      reserved: 0,
      currency: "USD",
      storage: { used_bytes: 0, allowed_bytes: null },
    });
  });
});

describe("POST /api/v2/keys", () => {
  it("201: a key with nothing asked for", async () => {
    const made = await site.call("POST", "/api/v2/keys", { key });
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      connected_app: null,
      member: null,
      id: expect.stringMatching(/^key_/),
      public: made.body.key.slice(3, 15),
      name: "",
      expires_at: null,
      models: null,
      monthly_limit: null,
      daily_limit: null,
      tokens_per_minute: null,
      keep_inputs: true,
      spent: null,
      spent_today: null,
      created_at: expect.any(String),
      last_used_at: null,
      key: expect.stringMatching(/^gk_[0-9a-z]{12}_[0-9a-z]{40}$/),
    });
    expect(keyRecord.safeParse(made.body).success).toBe(true);
    expect(await statusWith(made.body.key)).toBe(200);
  });

  it("201: name, expiry, models and limit are kept, and the allow list reaches the caller", async () => {
    const wanted = {
      name: "ci",
      expires_at: inSeconds(3600),
      models: ["gantry/image", "kim/my.model"],
      monthly_limit: 0.123456,
    };
    const made = await site.call("POST", "/api/v2/keys", { key, body: wanted });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject(wanted);
    const caller = await site.accounts.authenticate(made.body.key);
    expect(caller).toMatchObject({ models: wanted.models, monthlyLimitMicros: 123_456, keyPublic: made.body.public });
    expect(Object.isFrozen(caller) && Object.isFrozen(caller.models)).toBe(true);
  });

  it.each([
    [{ name: 5 }, "string_type", ["body", "name"]],
    [{ name: "x".repeat(101) }, "string_too_long", ["body", "name"]],
    [{ expires_at: "tomorrow" }, "datetime_parsing", ["body", "expires_at"]],
    [{ expires_at: "2001-01-01T00:00:00Z" }, "value_error", ["body", "expires_at"]],
    [{ models: "gantry/image" }, "json_invalid", ["body", "models"]],
    [{ models: [] }, "sequence_too_short", ["body", "models"]],
    [{ models: ["image"] }, "value_error", ["body", "models", 0]],
    [{ models: ["a/b/c"] }, "value_error", ["body", "models", 0]],
    [{ monthly_limit: -1 }, "greater_than_equal", ["body", "monthly_limit"]],
    [{ monthly_limit: "5" }, "float_parsing", ["body", "monthly_limit"]],
    [{ monthly_limit: 1e12 }, "less_than_equal", ["body", "monthly_limit"]],
    [{ monthly_limit: 0.0000001 }, "value_error", ["body", "monthly_limit"]],
    [{ monthly_limit: 1.0000005 }, "value_error", ["body", "monthly_limit"]],
    [{ colour: "red" }, "extra_forbidden", ["body", "colour"]],
    [[], "json_invalid", ["body"]],
  ])("422: %j", async (body, type, loc) => {
    const refused = await site.call("POST", "/api/v2/keys", { key, body });
    expect(refused.status).toBe(422);
    expect(refused.body.detail).toHaveLength(1);
    expect(refused.body.detail[0]).toMatchObject({ type, loc, url: expect.stringContaining(`/docs/errors#${type}`) });
  });

  it("422: every fault at once", async () => {
    const body = { name: 1, expires_at: "2001-01-01T00:00:00", models: ["x"], monthly_limit: true, more: 1 };
    const refused = await site.call("POST", "/api/v2/keys", { key, body });
    expect(refused.status).toBe(422);
    expect(refused.body.detail.map((issue: { loc: unknown[] }) => issue.loc[1]).toSorted()).toEqual([
      "expires_at",
      "models",
      "monthly_limit",
      "more",
      "name",
    ]);
  });

  it("422: a body that is not JSON", async () => {
    const headers = { "content-type": "application/json" };
    expect((await site.call("POST", "/api/v2/keys", { key, headers, body: "{" })).status).toBe(422);
    expect((await site.call("POST", "/api/v2/keys", { key, headers, body: "null" })).status).toBe(422);
  });
});

describe("GET /api/v2/keys", () => {
  it("200: the caller's own keys in pages, newest first, without any secret", async () => {
    const lee = await site.newUser("lee");
    for (const name of ["one", "two", "three"]) await site.call("POST", "/api/v2/keys", { key: lee, body: { name } });
    const first = await site.call("GET", "/api/v2/keys?page_size=3", { key: lee });
    expect(first.status).toBe(200);
    expect(first.body).toMatchObject({ page: 1, page_size: 3, total_count: 4, total_pages: 2 });
    expect(first.body.results.map((one: { name: string }) => one.name)).toEqual(["three", "two", "one"]);
    const second = await site.call("GET", "/api/v2/keys?page_size=3&page=2", { key: lee });
    expect(second.body.results.map((one: { public: string }) => one.public)).toEqual([lee.slice(3, 15)]);
    expect((await site.call("GET", "/api/v2/keys?page=9", { key: lee })).body).toMatchObject({
      results: [],
      total_count: 4,
    });
    for (const one of [...first.body.results, ...second.body.results]) expect(one).not.toHaveProperty("key");
    expect(first.text + second.text).not.toContain(lee.slice(16));
    expect(first.text).not.toMatch(/hash|secret/);
  });

  it("200: 20 to a page unless told", async () => {
    expect((await site.call("GET", "/api/v2/keys", { key })).body).toMatchObject({ page: 1, page_size: 20 });
  });

  it.each([
    ["page=0", "greater_than_equal", "page"],
    ["page=-1", "greater_than_equal", "page"],
    ["page=x", "int_parsing", "page"],
    ["page=1.5", "int_parsing", "page"],
    ["page=", "int_parsing", "page"],
    ["page=1&page=2", "int_parsing", "page"],
    ["page=99999999999999999999999", "less_than_equal", "page"],
    ["page_size=0", "greater_than_equal", "page_size"],
    ["page_size=101", "less_than_equal", "page_size"],
    ["page_size=all", "int_parsing", "page_size"],
  ])("422: ?%s", async (query, type, name) => {
    const refused = await site.call("GET", `/api/v2/keys?${query}`, { key });
    expect(refused.status).toBe(422);
    expect(refused.body.detail).toMatchObject([{ type, loc: ["query", name] }]);
  });

  it("422: both parameters wrong", async () => {
    expect((await site.call("GET", "/api/v2/keys?page=0&page_size=0", { key })).body.detail).toHaveLength(2);
  });
});

describe("DELETE /api/v2/keys/{id}", () => {
  it("204: over at once, out of the list, and a second time 404", async () => {
    const made = await site.call("POST", "/api/v2/keys", { key });
    expect(await statusWith(made.body.key)).toBe(200);
    const gone = await site.call("DELETE", `/api/v2/keys/${made.body.id}`, { key });
    expect(gone.status).toBe(204);
    expect(gone.text).toBe("");
    expect(await statusWith(made.body.key)).toBe(401);
    expect((await site.call("GET", "/api/v2/keys?page_size=100", { key })).text).not.toContain(made.body.id);
    expect((await site.call("DELETE", `/api/v2/keys/${made.body.id}`, { key })).status).toBe(404);
  });

  it("204: a key ends itself", async () => {
    const made = await site.call("POST", "/api/v2/keys", { key });
    expect((await site.call("DELETE", `/api/v2/keys/${made.body.id}`, { key: made.body.key })).status).toBe(204);
    expect(await statusWith(made.body.key)).toBe(401);
  });

  it.each([unknownId, "nothing", `${unknownId}'`])("404: %s", async (id) => {
    const refused = await site.call("DELETE", `/api/v2/keys/${id}`, { key });
    expect(refused.status).toBe(404);
    expect(refused.body).toEqual({ detail: "Key not found", status_code: 404 });
  });

  it("404: another user's key, also for an admin, and it goes on working", async () => {
    const made = await site.call("POST", "/api/v2/keys", { key });
    expect((await site.call("DELETE", `/api/v2/keys/${made.body.id}`, { key: operatorKey })).status).toBe(404);
    expect((await site.call("POST", `/api/v2/keys/${made.body.id}/rotate`, { key: operatorKey })).status).toBe(404);
    expect(await statusWith(made.body.key)).toBe(200);
  });
});

describe("POST /api/v2/keys/{id}/rotate", () => {
  const rotate = (id: string, body?: unknown, by = key) =>
    site.call("POST", `/api/v2/keys/${id}/rotate`, { key: by, body });

  it("200: without grace the old key is over at once; id, name and limits stay", async () => {
    const made = await site.call("POST", "/api/v2/keys", {
      key,
      body: { name: "n", models: ["a1/b"], monthly_limit: 2 },
    });
    expect(await statusWith(made.body.key)).toBe(200);
    const rotated = await rotate(made.body.id);
    expect(rotated.status).toBe(200);
    const { key: oldKey, public: oldPublic, last_used_at: _, ...kept } = made.body;
    expect(rotated.body).toMatchObject(kept);
    expect(rotated.body.key).not.toBe(oldKey);
    expect(rotated.body.public).not.toBe(oldPublic);
    expect(await statusWith(oldKey)).toBe(401);
    expect(await statusWith(rotated.body.key)).toBe(200);
  });

  it("200: with grace both work, then only the new one", async () => {
    const made = await site.call("POST", "/api/v2/keys", { key });
    const rotated = await rotate(made.body.id, { grace_seconds: 60 });
    expect(await statusWith(made.body.key)).toBe(200);
    expect(await statusWith(rotated.body.key)).toBe(200);
    expect((await site.accounts.authenticate(made.body.key)).keyId).toBe(made.body.id);
    site.passTime(61_000);
    expect(await statusWith(made.body.key)).toBe(401);
    expect(await statusWith(rotated.body.key)).toBe(200);
  });

  it("200: rotated twice within the grace all three work; a rotation without grace ends the others", async () => {
    const one = await site.call("POST", "/api/v2/keys", { key });
    const two = await rotate(one.body.id, { grace_seconds: 600 });
    const three = await rotate(one.body.id, { grace_seconds: 600 });
    const keys = [one, two, three].map((answer) => answer.body.key);
    expect(await Promise.all(keys.map(statusWith))).toEqual([200, 200, 200]);
    const four = await rotate(one.body.id, { grace_seconds: 0 });
    expect(await Promise.all([...keys, four.body.key].map(statusWith))).toEqual([401, 401, 401, 200]);
  });

  it("204: revoking ends a key under grace too", async () => {
    const made = await site.call("POST", "/api/v2/keys", { key });
    const rotated = await rotate(made.body.id, { grace_seconds: 600 });
    expect((await site.call("DELETE", `/api/v2/keys/${made.body.id}`, { key })).status).toBe(204);
    expect(await Promise.all([made.body.key, rotated.body.key].map(statusWith))).toEqual([401, 401]);
  });

  it.each([
    [{ grace_seconds: -1 }, "greater_than_equal"],
    [{ grace_seconds: "5" }, "int_parsing"],
    [{ grace_seconds: null }, "int_parsing"],
    [{ grace_seconds: 2_592_001 }, "less_than_equal"],
    [{ grace_seconds: 1.5 }, "int_parsing"],
    [{ grace: 1 }, "extra_forbidden"],
  ])("422: %j", async (body, type) => {
    const refused = await rotate(unknownId, body);
    expect(refused.status).toBe(422);
    expect(refused.body.detail).toMatchObject([{ type }]);
  });

  it("404: an unknown key", async () => {
    expect((await rotate(unknownId)).status).toBe(404);
  });

  it("409: an expired key", async () => {
    const made = await site.call("POST", "/api/v2/keys", {
      key,
      body: { expires_at: new Date(Date.now() + 3_600_000) },
    });
    site.passTime(3_600_001);
    expect((await rotate(made.body.id)).status).toBe(409);
  });
});

describe("a caller whose secret stopped working since it was identified", () => {
  const wanted = { name: "", expiresAt: null, models: null, monthlyLimitMicros: null };
  const refused = { type: "unauthorized" };

  it.each(["rotated", "rotated with grace", "revoked"])("creates nothing once it was %s", async (how) => {
    const made = await site.call("POST", "/api/v2/keys", { key });
    const caller = await site.accounts.authenticate(made.body.key);
    if (how === "revoked") await site.accounts.revokeKey(caller, caller.keyId);
    else await site.accounts.rotateKey(caller, caller.keyId, how === "rotated" ? 0 : 3600);
    await expect(site.accounts.createKey(caller, wanted)).rejects.toMatchObject(refused);
    await expect(site.accounts.rotateKey(caller, caller.keyId, 0)).rejects.toMatchObject(refused);
    await expect(site.accounts.makeSignInLink(caller)).rejects.toMatchObject(refused);
  });

  it("creates nothing once its session has ended", async () => {
    const session = asPresentedSession(await site.accounts.openSession(await site.accounts.authenticate(key)));
    const caller = await site.accounts.authenticate(session);
    await site.accounts.createKey(caller, wanted);
    await site.accounts.endSession(caller, session);
    await expect(site.accounts.createKey(caller, wanted)).rejects.toMatchObject(refused);
  });
});

describe("a key that runs out", () => {
  it("200 until then, 401 from that moment, also when it was just used", async () => {
    const expiry = new Date(Date.now() + 86_400_000);
    const made = await site.call("POST", "/api/v2/keys", { key, body: { expires_at: expiry } });
    expect(await statusWith(made.body.key)).toBe(200);
    site.passTime(86_400_001);
    expect(await statusWith(made.body.key)).toBe(401);
  });
});

describe("a restricted key", () => {
  it("403: makes, rotates and revokes nothing that reaches further than itself", async () => {
    const expires_at = "2099-01-01T00:00:00Z";
    const ending = await site.newUser("max", {}, { expires_at });
    const open = (await site.call("POST", "/api/v2/admin/users/max/keys", { key: operatorKey })).body;
    const make = (body: object) => site.call("POST", "/api/v2/keys", { key: ending, body });
    expect((await make({ expires_at })).status).toBe(201);
    const refused = await make({});
    expect(refused.status).toBe(403);
    expect(refused.body).toMatchObject({ status_code: 403, detail: expect.stringContaining("restricted key") });
    expect((await site.call("POST", `/api/v2/keys/${open.id}/rotate`, { key: ending })).status).toBe(403);
    expect((await site.call("DELETE", `/api/v2/keys/${open.id}`, { key: ending })).status).toBe(403);
    expect(await statusWith(open.key)).toBe(200);
  });

  it("403: carries no admin's power", async () => {
    const narrow = await site.call("POST", "/api/v2/keys", { key: operatorKey, body: { models: ["gantry/image"] } });
    expect((await site.call("GET", "/api/v2/admin/users", { key: narrow.body.key })).status).toBe(403);
    expect((await site.call("GET", "/api/v2/me", { key: narrow.body.key })).body.role).toBe("admin");
  });
});

describe("a client that names a content type and sends no body", () => {
  const headers = { "content-type": "application/json" };
  it("is understood where no body is needed", async () => {
    const made = await site.call("POST", "/api/v2/keys", { key, headers });
    expect(made.status).toBe(201);
    expect((await site.call("POST", `/api/v2/keys/${made.body.id}/rotate`, { key, headers })).status).toBe(200);
    expect((await site.call("DELETE", `/api/v2/keys/${made.body.id}`, { key, headers })).status).toBe(204);
  });
});

describe("secrets", () => {
  it("are neither logged nor stored", async () => {
    const made = await site.call("POST", "/api/v2/keys", { key });
    await site.call("GET", "/api/v2/me", { key: made.body.key });
    await site.call("POST", "/api/v2/keys", { key: made.body.key, body: { colour: made.body.key } });
    const [stored] = await site.database.sql<{ row: string }[]>`
      select string_agg(k::text, '') || (select coalesce(string_agg(r::text, ''), '') from retired_key_pairs r) as row
      from api_keys k`;
    const secret = made.body.key.slice(16);
    expect(stored?.row).toContain(made.body.public);
    expect(stored?.row).not.toContain(secret);
    expect(stored?.row).not.toContain(operatorKey);
    expect(site.logged()).not.toContain(secret);
    expect(site.logged()).not.toContain(operatorKey);
  });
});
