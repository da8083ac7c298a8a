import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { callback, codeIn, type Person, personOf, type RawApp, rawApp, statusAtMcp } from "../../support/oauth-app.ts";

let gantry: GantryNode;
let beside: GantryNode;
let ann: Person;
let annsKey: string;

beforeAll(async () => {
  gantry = await startGantry();
  beside = await startGantry({ beside: gantry });
  annsKey = await gantry.newUser("ann");
  ann = await personOf(gantry, annsKey);
});
afterAll(async () => {
  await beside.close();
  await gantry.close();
});

const redirectOf = async (link: URL) => {
  const answer = await fetch(link, { redirect: "manual" });
  return { status: answer.status, to: answer.headers.get("location") ?? "", text: await answer.text() };
};

async function connected(app: RawApp) {
  const answer = await app.exchange(codeIn(await ann.allow(app.link())));
  expect(answer.status, answer.text).toBe(200);
  return answer.body as { access_token: string; refresh_token: string };
}

const refused = (error: string) => expect.objectContaining({ status: 400, body: expect.objectContaining({ error }) });
/** A lost answer may be repeated for a minute. */
const endRepeats = () => gantry.database.sql`update oauth_connections set replaced_until = now() - interval '1 second'`;

test("an address that the app did not register is shown as a page and gets nothing", async () => {
  const app = await rawApp(gantry, { redirect_uris: [callback, "https://app.example/cb?x=1"] });
  const wrong = [
    { redirect_uri: "https://evil.example/cb" },
    { redirect_uri: "https://app.example/cb" },
    { redirect_uri: "https://app.example/cb?x=1&y=2" },
    { redirect_uri: "http://127.0.0.1:3334/callback/../evil" },
    { redirect_uri: "http://127.0.0.1.evil.example:3334/callback" },
    { redirect_uri: "http://user@127.0.0.1:3334/callback" },
    { redirect_uri: "http://localhost:3334/callback" },
    { redirect_uri: undefined },
    { client_id: "oac_00000000000000000000000000" },
    { client_id: "x'--" },
    { client_id: undefined },
  ];
  for (const changes of wrong) {
    const { status, to, text } = await redirectOf(app.link(changes));
    expect([changes, status, to]).toEqual([changes, 400, ""]);
    expect(text).toContain("This app cannot be connected");
  }
  const twice = app.link();
  twice.searchParams.append("redirect_uri", "https://evil.example/cb");
  expect((await redirectOf(twice)).status).toBe(400);
  // Apps choose the port when they start to listen.
  expect((await redirectOf(app.link({ redirect_uri: "http://127.0.0.1:9/callback" }))).status).toBe(302);
});

test("an invalid request is shown as a page: no address that anyone can register is opened", async () => {
  const app = await rawApp(gantry, { redirect_uris: [callback, "https://evil.example/"] });
  const wrong = [
    [{ code_challenge: undefined }, "code_challenge"],
    [{ code_challenge: "short" }, "code_challenge"],
    [{ code_challenge_method: undefined }, "code_challenge_method"],
    [{ code_challenge_method: "plain" }, "code_challenge_method"],
    [{ response_type: "token", redirect_uri: "https://evil.example/" }, "response_type"],
    [{ response_type: undefined }, "response_type"],
    [{ state: "x".repeat(2049) }, "state"],
    [{ resource: "https://other.example/mcp" }, "resource"],
    [{ resource: `${gantry.url}/v1` }, "resource"],
  ] as const;
  for (const [changes, name] of wrong) {
    const { status, to, text } = await redirectOf(app.link(changes));
    expect([changes, status, to]).toEqual([changes, 400, ""]);
    expect(text).toContain(name);
    // The consent page does not believe its address either.
    const decided = await ann.decide(app.link(changes).search.slice(1), { allow: true, models: ["gantry/text"] });
    expect(decided.status).toBe(422);
  }
  const slash = await redirectOf(app.link({ resource: `${gantry.url}/mcp/`, scope: "mcp offline_access" }));
  expect(slash.to).toContain("/console/authorize");
});

test("a code works once, for its app, its address and its verifier, for a minute", async () => {
  const [app, other] = [await rawApp(gantry), await rawApp(gantry)];
  const code = codeIn(await ann.allow(app.link()));
  expect(await app.exchange(code, { code_verifier: other.verifier })).toEqual(refused("invalid_grant"));
  expect(await app.exchange(code, { code_verifier: "" })).toEqual(refused("invalid_request"));
  expect(await app.exchange(code, { redirect_uri: "http://127.0.0.1:9/callback" })).toEqual(refused("invalid_grant"));
  expect(await app.exchange(code, { resource: "https://other.example" })).toEqual(refused("invalid_target"));
  expect(await app.exchange(`${code.slice(0, -1)}${code.endsWith("0") ? "1" : "0"}`)).toEqual(refused("invalid_grant"));
  expect(await other.exchange(code, { code_verifier: app.verifier })).toEqual(refused("invalid_grant"));
  const both = await Promise.all([app.exchange(code), app.exchange(code)]);
  // Of two that come at once, one is the second use: it ends what the first got.
  expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
  const { access_token } = both.find(({ status }) => status === 200)?.body ?? {};
  expect(await statusAtMcp(gantry, access_token)).toBe(401);
  expect(gantry.logged()).toContain("was used twice");

  const late = codeIn(await ann.allow(app.link()));
  await gantry.database.sql`update oauth_connections set code_expires_at = now() where connected_at is null`;
  expect(await app.exchange(late)).toEqual(refused("invalid_grant"));
});

test("a replaced refresh token gives the same answer for a minute, and later ends the connection on every node", async () => {
  const app = await rawApp(gantry);
  const first = await connected(app);
  const [second, repeated] = [await app.refresh(first.refresh_token), await app.refresh(first.refresh_token)];
  expect([second.status, repeated.status]).toEqual([200, 200]);
  expect(repeated.body.refresh_token).toBe(second.body.refresh_token);
  const third = await app.refresh(second.body.refresh_token);
  expect(third.status).toBe(200);
  for (const { access_token } of [first, second.body, third.body]) {
    expect([await statusAtMcp(gantry, access_token), await statusAtMcp(beside, access_token)]).toEqual([200, 200]);
  }
  const other = await rawApp(gantry);
  expect(await other.refresh(third.body.refresh_token)).toEqual(refused("invalid_grant"));
  // The 21st character belongs to the part that all tokens of a connection have.
  const forged = third.body.refresh_token.replace(/(?<=^.{20})./, (one: string) => (one === "x" ? "y" : "x"));
  expect(await app.refresh(forged)).toEqual(refused("invalid_grant"));
  expect(await statusAtMcp(gantry, third.body.access_token)).toBe(200);

  await endRepeats();
  expect(await app.refresh(second.body.refresh_token)).toEqual(refused("invalid_grant"));
  expect(await app.refresh(third.body.refresh_token)).toEqual(refused("invalid_grant"));
  for (const { access_token } of [first, second.body, third.body]) {
    expect([await statusAtMcp(gantry, access_token), await statusAtMcp(beside, access_token)]).toEqual([401, 401]);
  }
});

test("a connection that is not refreshed in time has to be approved again", async () => {
  const app = await rawApp(gantry);
  const { refresh_token } = await connected(app);
  await gantry.database.sql`update oauth_connections set refresh_expires_at = now()`;
  expect(await app.refresh(refresh_token)).toEqual(refused("invalid_grant"));
});

test("tokens end with the expiry that the person chose", async () => {
  const app = await rawApp(gantry);
  const expires_at = new Date(Date.now() + 600_000).toISOString();
  const code = codeIn(await ann.allow(app.link(), { models: ["gantry/text"], expires_at }));
  const { body } = await app.exchange(code);
  expect(body.expires_in).toBeLessThanOrEqual(600);
  await gantry.database.sql`update api_keys set expires_at = now() where expires_at is not null`;
  expect(await app.refresh(body.refresh_token)).toEqual(refused("invalid_grant"));
});

test("only the app can revoke its tokens, and an access token ends alone", async () => {
  const [app, other] = [await rawApp(gantry), await rawApp(gantry)];
  const { access_token, refresh_token } = await connected(app);
  for (const token of [access_token, refresh_token, "gr_nonsense", "ga_000000000000_\u0000"]) {
    expect((await other.revoke(token)).status).toBe(200);
  }
  expect(await statusAtMcp(gantry, access_token)).toBe(200);
  expect((await app.revoke(access_token)).status).toBe(200);
  expect(await statusAtMcp(gantry, access_token)).toBe(401);
  const { body } = await app.refresh(refresh_token);
  expect(await statusAtMcp(gantry, body.access_token)).toBe(200);
});

test("consent belongs to the signed-in person: no cookie alone, no key, no other user's page", async () => {
  const app = await rawApp(gantry);
  const request = await ann.follow(app.link());
  const json = { request, allow: true, models: ["gantry/text"] };
  const send = (headers: Record<string, string>, key = "") =>
    gantry.call("POST", "/console/api/authorization", { key, headers, json });
  const { cookie } = ann.headers;
  expect((await send({})).status).toBe(401);
  // What a form on another site would send.
  expect((await send({ cookie })).status).toBe(401);
  expect((await send({ cookie, "x-gantry-console": "bob" })).status).toBe(409);
  const byKey = await send({}, annsKey);
  expect([byKey.status, byKey.text]).toEqual([403, expect.stringContaining("Sign in there")]);
  expect((await gantry.database.sql`select 1 from oauth_connections where client_id = ${app.clientId}`).length).toBe(0);
  const page = await fetch(`${gantry.url}/console/authorize`);
  expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
});

test("a person gives no more than they have, and nothing by accident", async () => {
  const app = await rawApp(gantry);
  const request = await ann.follow(app.link());
  for (const wanted of [
    {},
    { models: null },
    { models: [] },
    { models: ["admin/none"] },
    { models: ["gantry/text"], expires_at: "2020-01-01" },
  ]) {
    expect([wanted, (await ann.decide(request, { allow: true, ...wanted })).status]).toEqual([wanted, 422]);
  }
  const newKey = async (json: object) => (await gantry.call("POST", "/api/v2/keys", { key: annsKey, json })).body.key;
  for (const json of [{ models: ["gantry/text"] }, { monthly_limit: 1 }]) {
    const limited = await personOf(gantry, await newKey(json));
    expect((await limited.read(request)).status).toBe(403);
    expect((await limited.decide(request, { allow: true, models: ["gantry/text"] })).status).toBe(403);
  }
  const expiring = await personOf(gantry, await newKey({ expires_at: new Date(Date.now() + 3_600_000).toISOString() }));
  expect((await expiring.decide(request, { allow: true, models: ["gantry/text"] })).status).toBe(403);
});

test("a person who refuses sends the app an error, and no key is made", async () => {
  const app = await rawApp(gantry);
  const { body } = await ann.decide(await ann.follow(app.link()), { allow: false });
  const { searchParams } = new URL(body.redirect_to);
  expect(Object.fromEntries(searchParams)).toMatchObject({ error: "access_denied", state: "s1", iss: gantry.url });
});

test("a connection is listed only once the app has its token, and cannot be rotated into a key", async () => {
  const app = await rawApp(gantry);
  const key = await gantry.newUser("cid");
  const cid = await personOf(gantry, key);
  const code = codeIn(await cid.allow(app.link()));
  const apps = async () => {
    const { results } = (await gantry.call("GET", "/api/v2/keys", { key })).body;
    return results.filter((one: { connected_app: unknown }) => one.connected_app);
  };
  expect(await apps()).toEqual([]);
  await app.exchange(code);
  const [listed] = await apps();
  const rotated = await gantry.call("POST", `/api/v2/keys/${listed.id}/rotate`, { key, json: {} });
  expect([rotated.status, rotated.text]).toEqual([409, expect.stringContaining("renews its tokens by itself")]);
});

test("the key of an app keeps its list of models", async () => {
  const app = await rawApp(gantry);
  await connected(app);
  const { results } = (await gantry.call("GET", "/api/v2/keys", { key: annsKey })).body;
  const { id } = results.find((one: { connected_app: unknown }) => one.connected_app);
  const change = (json: object) => gantry.call("PATCH", `/api/v2/keys/${id}`, { key: annsKey, json });
  expect(await change({ models: null })).toMatchObject({
    status: 422,
    body: { detail: [{ loc: ["body", "models"] }] },
  });
  expect((await change({ models: ["gantry/text", "gantry/rules"] })).body.models).toHaveLength(2);
});
