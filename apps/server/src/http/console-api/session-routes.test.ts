import { sessionRecord } from "@gantry/wire";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type AccountsUnderTest,
  type Answer,
  accountsUnderTest,
  operatorKey,
} from "../../../test/support/account-api.ts";

const hour = 3_600_000;
const address = "/console/api/session";
const useless = "This sign-in link was used or has expired. Create a new one.";
let site: AccountsUnderTest;
let kim: string;

beforeAll(async () => {
  site = await accountsUnderTest();
  kim = await site.newUser("kim");
});
afterAll(() => site.close());

async function newToken(key = kim, body: object = {}): Promise<string> {
  const made = await site.call("POST", "/api/v2/sign-in-links", { key, body });
  expect(made.status, made.text).toBe(201);
  return new URL(made.body.url).hash.slice(1);
}
const signIn = (body: unknown, headers: Record<string, string> = {}) => site.call("POST", address, { body, headers });
const cookieOf = ({ headers }: Answer): string => String(headers["set-cookie"]);
const sessionIn = (answer: Answer): string => /^gantry_session=([^;]*);/.exec(cookieOf(answer))?.[1] ?? "";
/** As the console's pages ask. */
const asked = (session: string, believed = "1") => ({
  cookie: `other=1; gantry_session=${session}; more=a=b`,
  "x-gantry-console": believed,
});
const statusOf = async (session: string) => (await site.call("GET", "/api/v2/me", { headers: asked(session) })).status;

describe("signing in with a link", () => {
  it("200: makes a key without limits that lasts for twelve hours", async () => {
    const answer = await signIn({ token: await newToken() });
    expect([answer.status, answer.headers["cache-control"]]).toEqual([200, "no-store"]);
    const session = sessionRecord.parse(answer.body);
    expect(session).toMatchObject({ username: "kim", role: "user" });
    expect(Math.abs(Date.parse(session.expires_at) - Date.now() - 12 * hour)).toBeLessThan(10_000);
    expect(cookieOf(answer)).toMatch(
      /^gantry_session=gs_\w+; HttpOnly; SameSite=Strict; Path=\/; Max-Age=(43200|4319\d)$/,
    );
    const { results } = (await site.call("GET", "/api/v2/keys", { headers: asked(sessionIn(answer)) })).body;
    expect(results[0]).toMatchObject({
      name: "Console",
      models: null,
      monthly_limit: null,
      daily_limit: null,
      tokens_per_minute: null,
      expires_at: session.expires_at,
    });
  });

  it("401: once and no more, also at the same moment", async () => {
    const token = await newToken();
    const answers = await Promise.all(Array.from({ length: 8 }, () => signIn({ token })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(401)]);
    const late = await signIn({ token });
    expect([late.status, late.body.error.message]).toEqual([401, useless]);
    expect(late.headers).not.toHaveProperty("set-cookie");
  });

  it("401: of a disabled user, and 200 again when it is enabled", async () => {
    await site.newUser("disa");
    const token = await newToken(operatorKey, { username: "disa" });
    const set = (disabled: boolean) =>
      site.call("PATCH", "/api/v2/admin/users/disa", { key: operatorKey, body: { disabled } });
    await set(true);
    const refused = await signIn({ token });
    expect([refused.status, refused.body.error.message]).toEqual([401, useless]);
    await set(false);
    expect((await signIn({ token })).status).toBe(200);
  });

  it.each(["", "x", "A".repeat(43), "A".repeat(3000), "ä".repeat(43)])("401: unknown (%#)", async (token) => {
    const refused = await signIn({ token });
    expect([refused.status, refused.body.error.message]).toEqual([401, useless]);
  });
});

describe("signing in with a key", () => {
  it("200: the session is that key, with what it is confined to", async () => {
    const made = await site.call("POST", "/api/v2/keys", { key: kim, body: { models: ["gantry/image"] } });
    const answer = await signIn({ key: ` ${made.body.key}\n` });
    const key = { name: "", models: ["gantry/image"], monthly_limit: null, daily_limit: null, tokens_per_minute: null };
    const who = { username: "kim", role: "user", expires_at: expect.any(String) };
    expect([answer.status, answer.body]).toEqual([200, { ...who, key, trace_url: null }]);
    expect(cookieOf(answer)).toMatch(/Max-Age=(43200|4319\d)$/);
    const link = await site.call("POST", "/api/v2/sign-in-links", { headers: asked(sessionIn(answer)), body: {} });
    expect(link.status).toBe(403);
  });

  it("200: the cookie does not work as a key, and a key does not work as a cookie", async () => {
    const session = sessionIn(await signIn({ key: kim }));
    expect(session).not.toContain(kim);
    const presented: Record<string, string>[] = [{ "x-api-key": session }, { authorization: `Bearer ${session}` }];
    for (const headers of [...presented, asked(kim)]) {
      expect((await site.call("GET", "/api/v2/me", { headers })).status).toBe(401);
    }
  });

  it("200: counts for the key, also its monthly limit, and ends when the key is revoked", async () => {
    const made = await site.call("POST", "/api/v2/keys", { key: kim, body: { name: "ci", monthly_limit: 0.02 } });
    const answer = await signIn({ key: made.body.key });
    expect(answer.body.key).toEqual({
      ...{ name: "ci", models: null, monthly_limit: 0.02, daily_limit: null, tokens_per_minute: null },
    });
    const { results } = (await site.call("GET", "/api/v2/keys", { key: kim })).body;
    expect(results.filter(({ name }: { name: string }) => name === "ci")).toHaveLength(1);
    expect((await site.call("DELETE", `/api/v2/keys/${made.body.id}`, { key: kim })).status).toBe(204);
    expect(await statusOf(sessionIn(answer))).toBe(401);
  });

  it("200: with a key that was rotated, no longer than that one works", async () => {
    const made = await site.call("POST", "/api/v2/keys", { key: kim, body: {} });
    const rotate = { key: kim, body: { grace_seconds: 60 } };
    expect((await site.call("POST", `/api/v2/keys/${made.body.id}/rotate`, rotate)).status).toBe(200);
    const answer = await signIn({ key: made.body.key });
    expect([answer.status, cookieOf(answer)]).toEqual([200, expect.stringMatching(/Max-Age=(60|5\d)$/)]);
  });

  it("200: of a hundred sessions with one key the newest are kept", async () => {
    const made = await site.call("POST", "/api/v2/keys", { key: kim, body: {} });
    const first = sessionIn(await signIn({ key: made.body.key }));
    let last = "";
    for (let n = 0; n < 100; n++) {
      site.passTime(1);
      last = sessionIn(await signIn({ key: made.body.key }));
    }
    // What is known of a session is asked for again each second.
    await expect.poll(() => statusOf(first)).toBe(401);
    expect(await statusOf(last)).toBe(200);
  });

  it("200: for no longer than the key", async () => {
    const expires_at = new Date(Date.now() + hour).toISOString();
    const { body } = await site.call("POST", "/api/v2/keys", { key: kim, body: { expires_at } });
    const answer = await signIn({ key: body.key });
    expect(answer.body.expires_at).toBe(expires_at);
    expect(cookieOf(answer)).toMatch(/Max-Age=(3600|359\d)$/);
  });

  it("200: the operator's key, whatever it is made of", async () => {
    const odd = `; Path=/x, "odd" \\%=${"x".repeat(32)}`.replaceAll(" ", "");
    await site.accounts.bootstrap(odd);
    const answer = await signIn({ key: odd });
    expect(answer.status).toBe(200);
    expect(await statusOf(sessionIn(answer))).toBe(200);
    await site.accounts.bootstrap(operatorKey);
  });

  it.each(["", "wrong", "gk_000000000000_wrong", "x".repeat(600)])("401: %s", async (key) => {
    const refused = await signIn({ key });
    expect([refused.status, refused.body.error.message]).toEqual([401, "Invalid API key"]);
    expect(refused.headers["www-authenticate"]).toBe("Bearer");
  });
});

describe("failed sign-ins", () => {
  it.each([undefined, {}, "x", { token: 1 }, { key: null }, { token: "a", key: "b" }, { key: "b", more: 1 }])(
    "422: %j",
    async (body) => {
      const refused = await signIn(body);
      expect([refused.status, refused.body.detail[0].loc[0]]).toEqual([422, "body"]);
      expect(refused.headers["cache-control"]).toBe("no-store");
    },
  );

  it("422: what a form of another site could send", async () => {
    const headers = { "content-type": "text/plain" };
    expect((await signIn(JSON.stringify({ key: kim }), headers)).status).toBe(422);
  });

  it("422: a body that is not JSON", async () => {
    const refused = await signIn("{", { "content-type": "application/json" });
    expect([refused.status, refused.body.detail[0].type]).toEqual([422, "json_invalid"]);
  });

  it("405: another method", async () => {
    expect((await site.call("PUT", address, { body: {} })).status).toBe(405);
  });

  it.each(["POST", "GET", "DELETE"] as const)("403: %s from a page of another site", async (method) => {
    const headers = { origin: "https://evil.example", ...asked(sessionIn(await signIn({ key: kim }))) };
    const refused = await site.call(method, address, { headers, ...(method === "POST" && { body: { key: kim } }) });
    expect(refused.status).toBe(403);
    expect(refused.headers).not.toHaveProperty("set-cookie");
  });

  it("200: from a page of its own; by TLS the cookie is for TLS alone", async () => {
    const plain = await signIn({ key: kim }, { origin: "http://localhost", host: "localhost" });
    const tls = await signIn({ key: kim }, { origin: "https://localhost", host: "localhost" });
    expect([plain.status, tls.status]).toEqual([200, 200]);
    expect(cookieOf(plain)).not.toContain("Secure");
    expect(cookieOf(tls)).toMatch(/^__Host-gantry_session=.*; Path=\/;.*; Secure$/);
    // Another host of the domain can set the name without the prefix.
    const session = /=([^;]*);/.exec(cookieOf(tls))?.[1];
    const headers = {
      origin: "https://localhost",
      host: "localhost",
      cookie: `gantry_session=${sessionIn(plain)}; __Host-gantry_session=${session}`,
      "x-gantry-console": "1",
    };
    const out = await site.call("DELETE", address, { headers });
    expect(out.headers["set-cookie"]).toEqual([
      "__Host-gantry_session=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0; Secure",
      "gantry_session=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0",
    ]);
    expect(await statusOf(session ?? "")).toBe(401);
    expect(await statusOf(sessionIn(plain))).toBe(200);
  });
});

describe("the session", () => {
  it("200 and 401: tells who is signed in", async () => {
    const answer = await signIn({ key: kim });
    const told = await site.call("GET", address, { headers: asked(sessionIn(answer)) });
    expect([told.status, told.body, told.headers["cache-control"]]).toEqual([200, answer.body, "no-store"]);
    expect((await site.call("GET", address)).status).toBe(401);
    expect((await site.call("GET", address, { headers: asked("wrong") })).status).toBe(401);
    expect((await site.call("GET", address, { key: kim })).status).toBe(401);
  });

  it("409: is another user's by now than the page believes", async () => {
    const session = sessionIn(await signIn({ key: kim }));
    const own = await site.call("GET", "/api/v2/me", { headers: asked(session, "kim") });
    expect([own.status, own.headers["cache-control"]]).toEqual([200, "no-store"]);
    const other = await site.call("GET", "/api/v2/me", { headers: asked(session, "bob") });
    expect([other.status, other.headers["x-gantry-session"]]).toEqual([409, "kim"]);
  });

  it("is ignored without the console header, and beside another key", async () => {
    const session = sessionIn(await signIn({ key: kim }));
    const wanting: Record<string, string>[] = [{ cookie: asked(session).cookie }, { "x-gantry-console": "1" }];
    for (const headers of wanting) {
      expect((await site.call("GET", "/api/v2/me", { headers })).status).toBe(401);
    }
    for (const [name, value] of Object.entries({ "x-api-key": "wrong", authorization: "Bearer wrong" })) {
      const headers = { ...asked(session), [name]: value };
      expect((await site.call("GET", "/api/v2/me", { headers })).status).toBe(401);
    }
    const other = await site.call("GET", "/api/v2/me", { headers: asked(session), key: operatorKey });
    expect(other.body.username).toBe("admin");
    for (const value of ["gantry_session=", "gantry_session", "gantry_session=%", "xgantry_session=a", ";;="]) {
      const headers = { cookie: value, "x-gantry-console": "1" };
      expect((await site.call("GET", "/api/v2/me", { headers })).status, value).toBe(401);
    }
  });

  it("of a link manages the keys of its user, as the user does", async () => {
    const headers = asked(sessionIn(await signIn({ token: await newToken() })));
    const made = await site.call("POST", "/api/v2/keys", { headers, body: { name: "for ever" } });
    expect([made.status, made.body.expires_at]).toEqual([201, null]);
    expect((await site.call("DELETE", `/api/v2/keys/${made.body.id}`, { headers })).status).toBe(204);
    expect((await site.call("POST", "/api/v2/sign-in-links", { headers, body: {} })).status).toBe(201);
  });

  it("of a link has no key that could be rotated", async () => {
    const headers = asked(sessionIn(await signIn({ token: await newToken() })));
    const [own] = (await site.call("GET", "/api/v2/keys", { headers })).body.results;
    const refused = await site.call("POST", `/api/v2/keys/${own.id}/rotate`, { headers, body: {} });
    expect([own.name, refused.status]).toEqual(["Console", 409]);
  });
});

describe("signing out", () => {
  const cleared = "gantry_session=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0";

  it("204: ends a key that a link made", async () => {
    const key = sessionIn(await signIn({ token: await newToken() }));
    expect(await statusOf(key)).toBe(200);
    const out = await site.call("DELETE", address, { headers: asked(key) });
    expect([out.status, cookieOf(out)]).toEqual([204, cleared]);
    expect(await statusOf(key)).toBe(401);
    expect((await site.call("DELETE", address, { headers: asked(key) })).status).toBe(204);
  });

  it("204: leaves a key that was brought, also one that is named as those of links", async () => {
    const { body } = await site.call("POST", "/api/v2/keys", { key: kim, body: { name: "Console" } });
    const session = sessionIn(await signIn({ key: body.key }));
    const out = await site.call("DELETE", address, { headers: asked(session) });
    expect([out.status, cookieOf(out)]).toEqual([204, cleared]);
    expect(await statusOf(session)).toBe(401);
    expect((await site.call("GET", "/api/v2/me", { key: body.key })).status).toBe(200);
  });

  it("204: without a session, and without the header nothing ends", async () => {
    const key = sessionIn(await signIn({ token: await newToken() }));
    const others: Record<string, string>[] = [{}, { cookie: asked(key).cookie }, asked("wrong")];
    for (const headers of others) {
      const out = await site.call("DELETE", address, { headers });
      expect([out.status, cookieOf(out)]).toEqual([204, cleared]);
    }
    expect(await statusOf(key)).toBe(200);
  });
});

it("links end after a quarter of an hour, sessions after twelve hours", async () => {
  const [first, second] = [await newToken(), await newToken()];
  site.passTime(hour / 4 - 60_000);
  const key = sessionIn(await signIn({ token: first }));
  site.passTime(120_000);
  const late = await signIn({ token: second });
  expect([late.status, late.body.error.message]).toEqual([401, useless]);
  site.passTime(12 * hour - 240_000);
  expect(await statusOf(key)).toBe(200);
  site.passTime(240_000);
  expect(await statusOf(key)).toBe(401);
});

it("nothing of it is logged, and of a link only a hash is stored", async () => {
  const token = await newToken();
  const [row] = await site.database.sql`select * from sign_in_links order by created_at desc limit 1`;
  expect(Object.keys(row ?? {}).sort()).toEqual(["created_at", "expires_at", "token_hash", "user_id"]);
  expect(row?.token_hash).toHaveLength(32);
  const key = sessionIn(await signIn({ token }));
  await signIn({ token });
  for (const secret of [token, key, kim]) expect(site.logged()).not.toContain(secret);
});
