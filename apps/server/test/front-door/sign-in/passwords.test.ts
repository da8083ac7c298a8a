import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hashPassword } from "../../../src/features/accounts/password.ts";
import { actionsOf, newVisitor } from "../../support/console-visitor.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { waitFor } from "../../support/wait-for.ts";

const good = "a walk in the rain";
const better = "two walks in the snow";
const wrong = "Wrong username or password.";
let gantry: GantryNode;
let beside: GantryNode;
let hash: string;

beforeAll(async () => {
  hash = await hashPassword(good);
  const env = { GANTRY_TRUSTED_PROXIES: "127.0.0.0/8" };
  gantry = await startGantry({ env });
  beside = await startGantry({ env, beside: gantry });
  for (const username of ["anna", "bert", "carl"]) await newUser(username);
  await newUser("dora", null);
});
afterAll(async () => {
  await beside.close();
  await gantry.close();
});

let addresses = 0;
/** From an address that no other test uses. */
const visitor = (address = `198.51.100.${++addresses}`) => newVisitor(gantry, address);

/** Hashing takes long, so all users share one hash. */
async function newUser(username: string, hashed: string | null = hash): Promise<void> {
  const made = await gantry.call("POST", "/api/v2/admin/users", { json: { username } });
  expect(made.status, made.text).toBe(201);
  await gantry.database.sql`update users set password_hash = ${hashed} where username = ${username}`;
}
/** As if so many sign-ins of a user from a network had failed. */
async function fail(user: string, network: string, times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    await gantry.database.sql`
      select take_sign_in_attempt(${[`user ${user}`, network]}::text[], '{1000,1000}', '{30,10}')`;
  }
}
const change = (username: string, json: object) => gantry.call("PATCH", `/api/v2/admin/users/${username}`, { json });

async function signedIn(username: string, password = good) {
  const browser = visitor();
  const answer = await browser.signIn({ username, password });
  expect(answer.status, answer.text).toBe(200);
  return browser;
}

describe("signing in with a password", () => {
  test("200: opens a session like that of a link", async () => {
    const browser = visitor();
    const answer = await browser.signIn({ username: " Anna ", password: good });
    expect([answer.status, answer.body.username, answer.body.key.name]).toEqual([200, "anna", "Console"]);
    expect(await browser.session()).toBe(200);
    expect(answer.headers.getSetCookie().map((cookie) => cookie.replace(/=[^;]*/, ""))).toEqual([
      expect.stringMatching(/^gantry_session; HttpOnly; SameSite=Strict; Path=\/; Max-Age=\d+$/),
      expect.stringMatching(/^gantry_device; HttpOnly; SameSite=Strict; Path=\/console\/api; Max-Age=\d+$/),
    ]);
    expect(gantry.logged()).not.toContain(good);
  });

  test("401 with one text: a wrong password, an unknown user, no password, a disabled user, an owner of models", async () => {
    await newUser("erik");
    await change("erik", { disabled: true });
    const guesses = [
      { username: "anna", password: "wrong" },
      { username: "ghost", password: good },
      { username: "not a name", password: good },
      { username: "dora", password: good },
      { username: "erik", password: good },
      { username: "gantry", password: good },
      { username: "anna", password: "" },
    ];
    const answers = await Promise.all(guesses.map((guess) => visitor().signIn(guess)));
    for (const { status, body, headers } of answers) {
      expect([status, body.error.message, headers.getSetCookie()]).toEqual([401, wrong, []]);
    }
  });

  test("401 if the password is changed while it is checked: the former one opens no session after that", async () => {
    await newUser("gwen");
    const { transaction } = gantry.database;
    let answer: Promise<{ status: number }> | undefined;
    await transaction(async (tx) => {
      await tx`update users set password_hash = 'scrypt$1$1$1$AA$AA' where username = 'gwen'`;
      answer = visitor().signIn({ username: "gwen", password: good });
      await waitFor("the sign-in to wait for the change", async () => {
        const rows = await gantry.database.sql`
          select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
        return rows.length > 0;
      });
    });
    expect((await answer)?.status).toBe(401);
  });

  test("the sign-in page offers passwords once a user has one", async () => {
    const { body } = await gantry.call("GET", "/console/api/sign-in", { key: "" });
    expect(body).toEqual({ ways: ["link", "key", "password"], provider: null, min_password_length: 10 });
  });

  test("a hash of a lower cost is replaced", async () => {
    await newUser("fred");
    const stored = async () =>
      (
        await gantry.database.sql<{ hash: string }[]>`select password_hash as hash from users where username = 'fred'`
      )[0]?.hash ?? "";
    const { scryptSync } = await import("node:crypto");
    const salt = Buffer.alloc(16, 1);
    const weak = scryptSync(good, salt, 32, { N: 1024, r: 8, p: 1 }).toString("base64url");
    await gantry.database.sql`
      update users set password_hash = ${`scrypt$1024$8$1$${salt.toString("base64url")}$${weak}`} where username = 'fred'`;
    await signedIn("fred");
    expect(await stored()).toMatch(/^scrypt\$32768\$8\$3\$/);
    await signedIn("fred");
  });
});

describe("failed sign-ins are limited", () => {
  test("429 for a user after ten; not for a device that the user has signed in with", async () => {
    const known = await signedIn("bert");
    await fail("bert", "somewhere", 9);
    expect((await visitor().signIn({ username: "bert", password: "wrong" })).status).toBe(401);
    // The right password does not help a stranger either.
    const stranger = await visitor().signIn({ username: "bert", password: good });
    expect(stranger.status).toBe(429);
    const wait = Number(stranger.headers.get("retry-after"));
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(30);
    expect((await known.signIn({ username: "bert", password: good })).status).toBe(200);
    // The mark of one user's device is worth nothing for another user.
    await fail("carl", "somewhere", 10);
    expect((await known.signIn({ username: "carl", password: good })).status).toBe(429);
    await gantry.database.sql`delete from sign_in_attempts`;
  });

  test("exactly over several nodes", async () => {
    await fail("carl", "somewhere", 8);
    const guess = { username: "carl", password: "wrong" };
    const nodes = [gantry, beside, gantry, beside, gantry, beside];
    const answers = await Promise.all(nodes.map((node, n) => newVisitor(node, `192.0.2.${n}`).signIn(guess)));
    expect(answers.map(({ status }) => status).sort()).toEqual([401, 401, 429, 429, 429, 429]);
    await gantry.database.sql`delete from sign_in_attempts`;
  });

  test("in a table that does not grow with the number of names", async () => {
    const buckets = await gantry.database.sql<{ bucket: number }[]>`
      select distinct sign_in_bucket(1, 'user ' || n) as bucket from generate_series(1, 20000) n`;
    expect(Math.min(...buckets.map(({ bucket }) => bucket))).toBeGreaterThanOrEqual(0);
    expect(Math.max(...buckets.map(({ bucket }) => bucket))).toBeLessThan(65_536);
  });

  test("429 for a network after thirty; a successful sign-in does not count", async () => {
    const address = "2001:db8:1:2::7";
    await fail("ghost", "2001:db8:1:2", 28);
    expect((await visitor(address).signIn({ username: "anna", password: good })).status).toBe(200);
    const guess = { username: "anna", password: "wrong" };
    expect((await visitor("2001:db8:1:2:ffff::1").signIn(guess)).status).toBe(401);
    await fail("ghost", "2001:db8:1:2", 5);
    const limited = await visitor(address).signIn({ username: "anna", password: good });
    expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, expect.stringMatching(/^\d+$/)]);
    expect((await visitor("2001:db8:1:3::7").signIn({ username: "anna", password: good })).status).toBe(200);
    await gantry.database.sql`delete from sign_in_attempts`;
  });
});

describe("a new password", () => {
  test.each([
    ["short", "body.password"],
    ["newbie-newbie", "username"],
    ["Password2026", "common"],
    ["x".repeat(1025), "body.password"],
  ])("422: %s is refused by the policy", async (password, said) => {
    const refused = await gantry.call("POST", "/api/v2/admin/users", {
      json: { username: said === "username" ? "newbie-newbie" : "newbie", password },
    });
    expect(refused.status).toBe(422);
    const [{ loc, msg }] = refused.body.detail;
    expect(loc).toEqual(["body", "password"]);
    if (!said.startsWith("body")) expect(msg).toContain(said);
  });

  test("of one's own needs the current one, and ends the other sessions", async () => {
    await newUser("gina");
    const [own, other] = [await signedIn("gina"), await signedIn("gina")];
    const put = (json: object) => own.call("PUT", "/api/v2/me/password", json);
    const refused = await put({ current_password: "wrong", new_password: better });
    expect([refused.status, refused.body.detail[0].loc]).toEqual([422, ["body", "current_password"]]);
    expect((await put({ current_password: good, new_password: "gina-gina" })).status).toBe(422);
    expect((await put({ current_password: good, new_password: better })).status).toBe(204);
    expect([await own.session(), await other.session()]).toEqual([200, 401]);
    expect((await visitor().signIn({ username: "gina", password: good })).status).toBe(401);
    await signedIn("gina", better);
    expect((await actionsOf(gantry, "gina")).slice(-4)).toEqual([
      "session.open",
      "session.open",
      "user.change_password",
      "session.open",
    ]);
    const dora = await gantry.call("POST", "/api/v2/admin/users/dora/keys", { json: {} });
    const first = { current_password: "", new_password: better };
    const none = await gantry.call("PUT", "/api/v2/me/password", { key: dora.body.key, json: first });
    expect([none.status, none.body.detail]).toEqual([409, expect.stringContaining("no password")]);
  });

  test("by an admin ends the sessions of the user, and null removes it", async () => {
    await newUser("hans");
    const browser = await signedIn("hans");
    expect((await change("hans", { password: better })).status).toBe(200);
    expect(await browser.session()).toBe(401);
    await signedIn("hans", better);
    expect((await change("hans", { password: null })).status).toBe(200);
    expect((await visitor().signIn({ username: "hans", password: better })).status).toBe(401);
  });
});

describe("a reset link", () => {
  const create = async (username: string) => {
    const made = await gantry.call("POST", `/api/v2/admin/users/${username}/password-reset`);
    expect(made.status, made.text).toBe(201);
    expect(made.body.url.startsWith(`${gantry.url}/console/reset-password#`)).toBe(true);
    return new URL(made.body.url).hash.slice(1);
  };
  const use = (token: string, password: string, browser = visitor()) =>
    browser.call("POST", "/console/api/password-reset", { token, password });

  test("sets a password once, ends all sessions and signs in", async () => {
    await newUser("ines");
    const before = await signedIn("ines");
    const [replaced, token] = [await create("ines"), await create("ines")];
    expect((await use(replaced, better)).status).toBe(401);
    expect((await use(token, "ines")).status).toBe(422);
    const browser = visitor();
    const answers = await Promise.all([use(token, better, browser), use(token, better, browser)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
    expect([await before.session(), await browser.session()]).toEqual([401, 200]);
    await signedIn("ines", better);
    const [row] = await gantry.database.sql`select count(*)::int as count from password_resets`;
    expect(row?.count).toBe(0);
    expect(await actionsOf(gantry, "ines")).toEqual([
      "user.create",
      "session.open",
      "user.create_reset_link",
      "user.create_reset_link",
      "user.reset_password",
      "session.open",
      "session.open",
    ]);
    expect(gantry.logged()).not.toContain(token);
  });

  test("401 when it has expired, or for a disabled user, or invented", async () => {
    const token = await create("dora");
    await gantry.database.sql`update password_resets set expires_at = now()`;
    const other = await create("carl");
    await change("carl", { disabled: true });
    for (const one of [token, other, "x", "A".repeat(43)]) expect((await use(one, better)).status).toBe(401);
    await change("carl", { disabled: false });
    await change("carl", { password: better });
    // The password was set since.
    expect((await use(other, good)).status).toBe(401);
  });

  test("403 and 404 for others", async () => {
    const key = await gantry.newUser("plain");
    const path = (username: string) => `/api/v2/admin/users/${username}/password-reset`;
    expect((await gantry.call("POST", path("anna"), { key })).status).toBe(403);
    for (const username of ["ghost", "gantry"]) expect((await gantry.call("POST", path(username))).status).toBe(404);
  });
});
