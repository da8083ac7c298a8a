import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { actionsOf, newVisitor, type Visitor } from "../../support/console-visitor.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { signIn } from "../../support/oauth-servers.ts";
import { type OidcServer, startOidcServer } from "../../support/oidc-server.ts";
import { waitFor } from "../../support/wait-for.ts";

let gantry: GantryNode;
let beside: GantryNode;
let provider: OidcServer;
/** The address in front of both nodes, as a load balancer has. */
const publicUrl = "http://gantry.test";

beforeAll(async () => {
  provider = await startOidcServer([publicUrl]);
  const env = {
    ...provider.env,
    // The issuer may be private although users' calls may not.
    GANTRY_ALLOW_PRIVATE_NETWORK: "0",
    GANTRY_PUBLIC_URL: publicUrl,
    GANTRY_OIDC_NAME: "Example ID",
    GANTRY_OIDC_CREATE_USERS: "1",
    GANTRY_OIDC_LINK_USERS: "1",
    GANTRY_OIDC_ADMIN_GROUPS: "ops",
    GANTRY_OIDC_PLAN_GROUPS: "heavy=pro,*=free",
    GANTRY_OIDC_ALLOWED_GROUPS: "ops,staff",
  };
  gantry = await startGantry({ env });
  beside = await startGantry({ env, beside: gantry });
});
afterAll(async () => {
  await beside.close();
  await gantry.close();
  await provider.close();
});

const person = (name: string, claims: object = {}) => provider.people.set(name, { groups: ["staff"], ...claims });
const pathOf = (address: string | null) => (address ?? "").replace(/^http:\/\/[^/]+/, "");

/** To the provider and back; returns the path of the callback. */
async function toCallback(browser: Visitor, name: string, from = "/"): Promise<string> {
  const started = await browser.visit(`/console/api/oidc/start?from=${encodeURIComponent(from)}`);
  expect(started.status).toBe(303);
  const location = started.headers.get("location") ?? "";
  expect(location.startsWith(`${provider.issuer}/auth?`)).toBe(true);
  const back = await signIn(location, name);
  expect(back.startsWith(`${publicUrl}/console/api/oidc/callback?`)).toBe(true);
  return pathOf(back);
}

/** Where the browser ends up. */
async function enter(browser: Visitor, name: string, from?: string): Promise<string | null> {
  return (await browser.visit(await toCallback(browser, name, from))).headers.get("location");
}
const problem = (name: string) => `/console/sign-in?problem=${name}`;
/** Whether a query waits for a lock. */
const isWaiting = async () => {
  const rows = await gantry.database.sql`
    select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  return rows.length > 0;
};
const userOf = async (name: string) => (await gantry.call("GET", `/api/v2/admin/users/${name}`)).body;

describe("signing in at the provider", () => {
  test("creates a user, opens a session on any node and returns to the page", async () => {
    person("anna");
    const browser = newVisitor(gantry);
    const callback = await toCallback(browser, "anna", "/models?page=2#top");
    // Another node finishes what this one began.
    const other = newVisitor(beside);
    for (const [name, value] of browser.cookies) other.cookies.set(name, value);
    const landed = await other.visit(callback);
    expect([landed.status, landed.headers.get("location")]).toEqual([303, "/console/models?page=2#top"]);
    const session = await other.call("GET", "/console/api/session");
    expect(session.body).toMatchObject({ username: "anna", role: "user" });
    expect(await userOf("anna")).toMatchObject({ role: "user", plan: "free", balance: 0 });
    const { results } = (await other.call("GET", "/api/v2/sessions")).body;
    expect(results).toEqual([expect.objectContaining({ signed_in_with: "oidc", current: true })]);
    expect(other.cookies.has("gantry_oidc")).toBe(false);
    expect(gantry.logged() + beside.logged()).not.toContain("secret-of-the-test");
  });

  test.each([
    "//evil.example",
    "/\\evil.example",
    "https://evil.example",
    "/../../evil",
    "/%2e%2e/evil",
    "javascript:x",
    "",
  ])("returns to the console, whatever page is asked for: %s", async (from) => {
    person("anna");
    expect(await enter(newVisitor(gantry), "anna", from)).toBe("/console/");
  });

  test("returns to the page that connects an app, whose address is long", async () => {
    person("anna");
    const page = (length: number) => `/authorize?request=${"x".repeat(length)}`;
    expect(await enter(newVisitor(gantry), "anna", page(2300))).toBe(`/console${page(2300)}`);
    expect(await enter(newVisitor(gantry), "anna", page(9000))).toBe("/console/");
  });

  test("applies role and plan from the groups at each sign-in", async () => {
    person("olga", { groups: ["ops", "heavy"] });
    const first = newVisitor(gantry);
    expect(await enter(first, "olga")).toBe("/console/");
    expect(await userOf("olga")).toMatchObject({ role: "admin", plan: "pro" });
    expect((await first.call("GET", "/api/v2/admin/users")).status).toBe(200);
    person("olga", { groups: ["staff"] });
    expect(await enter(newVisitor(gantry), "olga")).toBe("/console/");
    expect(await userOf("olga")).toMatchObject({ role: "user", plan: "free" });
    expect((await first.call("GET", "/api/v2/admin/users")).status).toBe(403);
    expect(await actionsOf(gantry, "olga")).toEqual(["user.create", "session.open", "user.update", "session.open"]);
  });

  test("knows a person by the subject, not by the name", async () => {
    person("kim");
    await enter(newVisitor(gantry), "kim");
    person("kim", { preferred_username: "someone-else" });
    const browser = newVisitor(gantry);
    await enter(browser, "kim");
    expect((await browser.call("GET", "/console/api/session")).body.username).toBe("kim");
    // Another person who got the name of a linked user does not become that user.
    person("impostor", { preferred_username: "kim" });
    expect(await enter(newVisitor(gantry), "impostor")).toBe(problem("name_taken"));
    expect((await gantry.call("DELETE", "/api/v2/admin/users/kim/identity")).status).toBe(204);
    expect((await actionsOf(gantry, "kim")).at(-1)).toBe("user.unlink");
    expect(await enter(newVisitor(gantry), "impostor")).toBe("/console/");
  });

  test("two first sign-ins at the same moment are one user", async () => {
    person("twice");
    const browsers = [newVisitor(gantry), newVisitor(beside)];
    const callbacks = await Promise.all(browsers.map((browser) => toCallback(browser, "twice")));
    const landed = await Promise.all(browsers.map((browser, n) => browser.visit(callbacks[n] ?? "")));
    expect(landed.map(({ headers }) => headers.get("location"))).toEqual(["/console/", "/console/"]);
  });

  test("links an existing user of that name, but no admin", async () => {
    await gantry.newUser("local");
    person("local");
    expect(await enter(newVisitor(gantry), "local")).toBe("/console/");
    expect((await actionsOf(gantry, "local")).slice(-3)).toEqual(["user.link", "user.update", "session.open"]);
    const [linked] = (await gantry.call("GET", "/api/v2/admin/audit?action=user.link&object=local")).body.results;
    expect(linked.after).toEqual({ issuer: provider.issuer, subject: "local" });
    person("admin");
    expect(await enter(newVisitor(gantry), "admin")).toBe(problem("name_taken"));
    // The provider says that this person is an admin.
    person("chief", { preferred_username: "admin", groups: ["ops"] });
    expect(await enter(newVisitor(gantry), "chief")).toBe("/console/");
    expect((await gantry.call("DELETE", "/api/v2/admin/users/admin/identity")).status).toBe(204);
  });

  test("locks users before the audit log, which every other change waits for", async () => {
    await gantry.newUser("slow");
    person("slow");
    const browser = newVisitor(gantry);
    const callback = await toCallback(browser, "slow");
    let landed: Promise<Response> | undefined;
    await gantry.database.transaction(async (tx) => {
      await tx`select 1 from users where username = 'admin' for update`;
      landed = browser.visit(callback);
      await waitFor("the sign-in to wait for the admins", isWaiting);
      expect(await tx`select 1 from audit_chain for update skip locked`).toHaveLength(1);
    });
    expect((await landed)?.headers.get("location")).toBe("/console/");
  });

  test("links no user who becomes an admin in that moment", async () => {
    await gantry.newUser("rising");
    person("rising");
    const browser = newVisitor(gantry);
    const callback = await toCallback(browser, "rising");
    let landed: Promise<Response> | undefined;
    await gantry.database.transaction(async (tx) => {
      await tx`update users set role = 'admin' where username = 'rising'`;
      landed = browser.visit(callback);
      await waitFor("the sign-in to wait for the user", isWaiting);
    });
    expect((await landed)?.headers.get("location")).toBe(problem("name_taken"));
    await gantry.database.sql`update users set role = 'user' where username = 'rising'`;
  });

  test("does not link a user by an e-mail address that the provider has not verified", async () => {
    const domain = { GANTRY_OIDC_ALLOWED_DOMAINS: "example.com" };
    const env = { ...provider.env, ...domain, GANTRY_PUBLIC_URL: publicUrl, GANTRY_OIDC_LINK_USERS: "1" };
    const byMail = await startGantry({ env: { ...env, GANTRY_OIDC_USERNAME_CLAIM: "email" }, beside: gantry });
    await gantry.newUser("mia");
    for (const [verified, landed] of [
      [{ email_verified: false }, problem("not_allowed")],
      [{}, problem("not_allowed")],
      [{ email: "mia@other.example", email_verified: true }, problem("not_allowed")],
      [{ email_verified: true }, "/console/"],
    ] as const) {
      person("mallory", { email: "mia@example.com", ...verified });
      expect(await enter(newVisitor(byMail), "mallory")).toBe(landed);
    }
    await byMail.close();
  });

  test("refuses names that cannot be usernames, people outside of the groups, and disabled users", async () => {
    person("zoe", { preferred_username: "Zoë" });
    expect(await enter(newVisitor(gantry), "zoe")).toBe(problem("name_invalid"));
    person("house", { preferred_username: "gantry@example.com" });
    expect(await enter(newVisitor(gantry), "house")).toBe(problem("name_invalid"));
    person("guest", { groups: ["guests"] });
    const browser = newVisitor(gantry);
    expect(await enter(browser, "guest")).toBe(problem("not_allowed"));
    expect(await browser.session()).toBe(401);
    await gantry.newUser("gone");
    await gantry.call("PATCH", "/api/v2/admin/users/gone", { json: { disabled: true } });
    person("gone");
    expect(await enter(newVisitor(gantry), "gone")).toBe(problem("disabled"));
  });
});

describe("an answer that does not belong to the sign-in", () => {
  test("is refused: a replay, another browser, another state, another nonce, nothing", async () => {
    person("anna");
    const browser = newVisitor(gantry);
    const callback = await toCallback(browser, "anna");
    const kept = new Map(browser.cookies);
    expect((await newVisitor(gantry).visit(callback)).headers.get("location")).toBe(problem("expired"));
    expect((await browser.visit(callback)).headers.get("location")).toBe("/console/");
    // The cookie is gone, and the code was used.
    expect((await browser.visit(callback)).headers.get("location")).toBe(problem("expired"));
    const thief = newVisitor(gantry);
    for (const [name, value] of kept) thief.cookies.set(name, value);
    expect((await thief.visit(callback)).headers.get("location")).toBe(problem("invalid"));
    expect(await thief.session()).toBe(401);

    const mixed = newVisitor(gantry);
    const mine = await toCallback(mixed, "anna");
    const changed = mine.replace(/state=[^&]+/, "state=other");
    expect((await mixed.visit(changed)).headers.get("location")).toBe(problem("invalid"));
    // A code of another browser's sign-in: state of this one, verifier and nonce of this one.
    const [victim, attacker] = [newVisitor(gantry), newVisitor(gantry)];
    const ofVictim = await toCallback(victim, "anna");
    const ofAttacker = await toCallback(attacker, "anna");
    const code = /code=([^&]+)/.exec(ofAttacker)?.[1];
    const injected = ofVictim.replace(/code=[^&]+/, `code=${code}`);
    expect((await victim.visit(injected)).headers.get("location")).toBe(problem("invalid"));
    expect((await newVisitor(gantry).visit("/console/api/oidc/callback")).headers.get("location")).toBe(
      problem("expired"),
    );
  });

  test("is refused when the person says no, and its text is not shown", async () => {
    const browser = newVisitor(gantry);
    const started = await browser.visit("/console/api/oidc/start?from=/money");
    const state = new URL(started.headers.get("location") ?? "").searchParams.get("state") ?? "";
    const answer = new URLSearchParams({
      error: "access_denied",
      error_description: "<b>send money</b>",
      state,
      iss: provider.issuer,
    });
    const landed = await browser.visit(`/console/api/oidc/callback?${answer}`);
    expect(landed.headers.get("location")).toBe(`${problem("refused")}&from=%2Fmoney`);
  });

  test("is refused after ten minutes", async () => {
    const { createAesVault } = await import("../../../src/engines/vault/aes-vault.ts");
    const { openFlow, sealFlow } = await import("../../../src/features/accounts/oidc/flow.ts");
    const vault = createAesVault(Buffer.alloc(32, 7));
    const flow = { checks: { state: "s", nonce: "n", verifier: "v", redirectUri: "r" }, from: "/", until: 1000 };
    const sealed = sealFlow(vault, flow);
    expect(openFlow(vault, sealed, new Date(999))).toEqual(flow);
    expect(openFlow(vault, sealed, new Date(1000))).toBeUndefined();
    expect(openFlow(createAesVault(Buffer.alloc(32, 8)), sealed, new Date(0))).toBeUndefined();
  });
});

describe("signing out", () => {
  test("leads to the provider and back to the sign-in page", async () => {
    person("anna");
    const browser = newVisitor(gantry);
    await enter(browser, "anna");
    const left = await browser.call("DELETE", "/console/api/session");
    expect(left.status).toBe(200);
    const url = new URL(left.body.sign_out_url);
    expect(`${url.origin}${url.pathname}`).toBe(`${provider.issuer}/session/end`);
    expect(url.searchParams.get("post_logout_redirect_uri")).toBe(`${publicUrl}/console/sign-in`);
    expect(url.searchParams.get("id_token_hint")?.split(".")).toHaveLength(3);
    const page = await fetch(url, { redirect: "manual" });
    expect([200, 303]).toContain(page.status);
    expect(await browser.session()).toBe(401);
    expect([...browser.cookies.keys()]).toEqual([]);
  });

  test("leads to the provider also if the ID token does not fit into a cookie", async () => {
    person("huge", { badges: Array.from({ length: 200 }, (_, n) => `a badge with a long name ${n}`) });
    const browser = newVisitor(gantry);
    await enter(browser, "huge");
    const url = new URL((await browser.call("DELETE", "/console/api/session")).body.sign_out_url);
    expect(`${url.origin}${url.pathname}`).toBe(`${provider.issuer}/session/end`);
    expect([url.searchParams.has("id_token_hint"), url.searchParams.has("client_id")]).toEqual([false, true]);
    expect([...browser.cookies.keys()]).toEqual([]);
  });

  test("stays here after signing in with a key", async () => {
    person("anna");
    const browser = newVisitor(gantry);
    await enter(browser, "anna");
    await browser.signIn({ key: gantry.adminKey });
    expect((await browser.call("DELETE", "/console/api/session")).status).toBe(204);
  });
});

test("a provider that is down signs people in again once it is back", async () => {
  person("anna");
  const signedIn = newVisitor(gantry);
  await enter(signedIn, "anna");
  const callback = await toCallback(signedIn, "anna");
  provider.isDown = true;
  expect((await signedIn.visit(callback)).headers.get("location")).toBe(problem("unavailable"));
  const late = await startGantry({ env: provider.env, beside: gantry });
  const start = await newVisitor(late).visit("/console/api/oidc/start");
  expect(start.headers.get("location")).toBe(problem("unavailable"));
  provider.isDown = false;
  const again = await newVisitor(late).visit("/console/api/oidc/start");
  expect(again.headers.get("location")).toMatch(/\/auth\?/);
  await late.close();
});
