import { afterAll, beforeAll, expect, test } from "vitest";
import { actionsOf, newVisitor } from "../../support/console-visitor.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

let gantry: GantryNode;

beforeAll(async () => {
  gantry = await startGantry({ env: { GANTRY_TRUSTED_PROXIES: "127.0.0.1" } });
});
afterAll(() => gantry.close());

async function byKey(key: string, address = "203.0.113.9") {
  const browser = newVisitor(gantry, address);
  expect((await browser.signIn({ key })).status).toBe(200);
  return browser;
}
async function byLink(username: string) {
  const browser = newVisitor(gantry, "203.0.113.7");
  const { body } = await gantry.call("POST", "/api/v2/sign-in-links", { json: { username } });
  const options = { headers: { "user-agent": `Browser\t${"x".repeat(400)}` } };
  const token = new URL(body.url).hash.slice(1);
  expect((await browser.call("POST", "/console/api/session", { token }, options)).status).toBe(200);
  return browser;
}

test("lists both sorts with their origin, newest first, and marks the own one", async () => {
  const key = await gantry.newUser("lena", { key: { name: "laptop" } });
  await byKey(key);
  const own = await byLink("lena");
  await byLink("admin");
  const { body } = await own.call("GET", "/api/v2/sessions");
  expect(body).toMatchObject({ total_count: 2, page: 1 });
  const [link, opened] = body.results;
  expect(link).toMatchObject({ signed_in_with: "link", key_name: "Console", current: true, address: "203.0.113.7" });
  expect(link.user_agent).toBe(`Browser${"x".repeat(293)}`);
  expect(opened).toMatchObject({ signed_in_with: "key", key_name: "laptop", current: false, address: "203.0.113.9" });
  expect(Date.parse(link.expires_at) - Date.parse(link.created_at)).toBe(12 * 3_600_000);
  await expect
    .poll(async () => (await own.call("GET", "/api/v2/sessions")).body.results[0].last_used_at)
    .not.toBeNull();
  const seen = await gantry.call("GET", "/api/v2/admin/users/lena/sessions?page_size=1");
  expect(seen.body).toMatchObject({ total_count: 2, results: [{ id: link.id, current: false }] });
});

test("ends one session; its key goes on only if it is an API key", async () => {
  const key = await gantry.newUser("mona");
  const [own, other, linked] = [await byKey(key), await byKey(key), await byLink("mona")];
  const idOf = async (browser: typeof own) =>
    (await browser.call("GET", "/api/v2/sessions")).body.results.find((one: { current: boolean }) => one.current).id;
  for (const browser of [other, linked]) {
    const id = await idOf(browser);
    expect((await own.call("DELETE", `/api/v2/sessions/${id}`)).status).toBe(204);
    expect(await browser.session()).toBe(401);
    expect((await own.call("DELETE", `/api/v2/sessions/${id}`)).status).toBe(404);
  }
  expect(await own.session()).toBe(200);
  expect((await gantry.call("GET", "/api/v2/me", { key })).status).toBe(200);
  const keys = (await gantry.call("GET", "/api/v2/keys", { key })).body.results;
  expect(keys.map(({ name }: { name: string }) => name)).not.toContain("Console");
  expect((await actionsOf(gantry, "mona")).slice(-2)).toEqual(["session.end", "session.end"]);
});

test("sessions of another user cannot be ended; a restricted key ends none", async () => {
  const own = await byKey(await gantry.newUser("nora"));
  const id = (await own.call("GET", "/api/v2/sessions")).body.results[0].id;
  const stranger = await gantry.newUser("stranger");
  expect((await gantry.call("DELETE", `/api/v2/sessions/${id}`, { key: stranger })).status).toBe(404);
  const path = `/api/v2/admin/users/nora/sessions/${id}`;
  expect((await gantry.call("DELETE", path, { key: stranger })).status).toBe(403);
  const asAdmin = { key: gantry.adminKey };
  const limits = [{ monthly_limit: 5 }, { models: ["gantry/text"] }, { expires_at: "2999-01-01T00:00:00Z" }];
  for (const json of limits) {
    const { key } = (await gantry.call("POST", "/api/v2/admin/users/nora/keys", { ...asAdmin, json })).body;
    expect((await gantry.call("DELETE", `/api/v2/sessions/${id}`, { key })).status).toBe(403);
    expect((await gantry.call("DELETE", "/api/v2/sessions", { key })).status).toBe(403);
  }
  expect(await own.session()).toBe(200);
  expect((await gantry.call("DELETE", path)).status).toBe(204);
  expect(await own.session()).toBe(401);
  expect((await actionsOf(gantry, "nora")).filter((action) => action === "session.end")).toHaveLength(1);
});

test("ends all other sessions, of the user alone", async () => {
  const key = await gantry.newUser("petra");
  const [own, other, linked, admin] = [
    await byLink("petra"),
    await byKey(key),
    await byLink("petra"),
    await byLink("admin"),
  ];
  const unused = (await gantry.call("POST", "/api/v2/sign-in-links", { key, json: {} })).body.url;
  expect((await own.call("DELETE", "/api/v2/sessions")).status).toBe(204);
  expect((await newVisitor(gantry).signIn({ token: new URL(unused).hash.slice(1) })).status).toBe(401);
  expect(await Promise.all([own, other, linked, admin].map((one) => one.session()))).toEqual([200, 401, 401, 200]);
  expect((await gantry.call("GET", "/api/v2/me", { key })).status).toBe(200);
  expect((await gantry.call("DELETE", "/api/v2/admin/users/petra/sessions")).status).toBe(204);
  expect(await own.session()).toBe(401);
});

test("a way that is not enabled is refused", async () => {
  const strict = await startGantry({ beside: gantry, env: { GANTRY_SIGN_IN: "password" } });
  expect((await strict.call("GET", "/console/api/sign-in", { key: "" })).body.ways).toEqual(["password"]);
  const refused = [
    strict.call("POST", "/console/api/session", { key: "", json: { key: strict.adminKey } }),
    strict.call("POST", "/console/api/session", { key: "", json: { token: "A".repeat(43) } }),
    strict.call("POST", "/api/v2/sign-in-links", { json: {} }),
    strict.call("GET", "/console/api/oidc/start", { key: "" }),
    strict.call("GET", "/console/api/oidc/callback", { key: "" }),
  ];
  for (const { status, text } of await Promise.all(refused)) {
    expect([status, text]).toEqual([403, expect.stringContaining("GANTRY_SIGN_IN")]);
  }
  await strict.close();
  const links = await startGantry({ beside: gantry, env: { GANTRY_SIGN_IN: "link, key" } });
  const json = { username: "lena", password: "a walk in the rain" };
  expect((await links.call("POST", "/console/api/session", { key: "", json })).status).toBe(403);
  expect((await links.call("POST", "/api/v2/admin/users/lena/password-reset")).status).toBe(403);
  const change = { current_password: "x", new_password: "a walk in the rain" };
  expect((await links.call("PUT", "/api/v2/me/password", { json: change })).status).toBe(403);
  await links.close();
});
