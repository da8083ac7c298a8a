import { UnauthorizedError } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { appMemory, mcpClientOf, type Person, personOf, post, statusAtMcp } from "../../support/oauth-app.ts";
import { waitFor } from "../../support/wait-for.ts";

let gantry: GantryNode;
let ann: string;
let person: Person;

beforeAll(async () => {
  gantry = await startGantry();
  ann = await gantry.newUser("ann");
  person = await personOf(gantry, ann);
});
afterAll(async () => {
  await gantry.close();
});

const appsOf = async (key: string) =>
  (await gantry.call("GET", "/api/v2/keys", { key })).body.results.filter(
    (one: { connected_app: object | null }) => one.connected_app !== null,
  );

/** As if an hour had passed. */
async function expire(token = ""): Promise<void> {
  await gantry.database.sql`update oauth_access_tokens set valid_until = now() - interval '1 second'`;
  await waitFor("the token to expire", async () => (await statusAtMcp(gantry, token)) === 401);
}

async function connected(wanted: object) {
  const memory = appMemory();
  const first = mcpClientOf(gantry, memory.provider);
  await expect(first.client.connect(first.transport)).rejects.toThrow(UnauthorizedError);
  const [link] = memory.sentTo;
  if (!link) throw new Error("the client sent the person nowhere");
  await first.transport.finishAuth((await person.allow(link, wanted)).searchParams);
  const { client, transport } = mcpClientOf(gantry, memory.provider);
  await client.connect(transport);
  return { memory, link, client };
}

test("the official client connects by the address alone, calls, refreshes and ends with its key", async () => {
  const { memory, link, client } = await connected({ name: "My assistant", models: ["gantry/text"], monthly_limit: 5 });
  expect(Object.fromEntries(link.searchParams)).toMatchObject({
    response_type: "code",
    code_challenge_method: "S256",
    scope: "mcp",
    state: "state-1",
    resource: `${gantry.url}/mcp`,
  });
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["model_gantry_text"]);
  const call = { name: "model_gantry_text", arguments: { prompt: "What is 12 * 34?" } };
  expect(JSON.stringify((await client.callTool(call)).content)).toContain("408");

  const [app] = await appsOf(ann);
  expect(app).toMatchObject({
    name: "My assistant",
    models: ["gantry/text"],
    monthly_limit: 5,
    connected_app: { name: "Test app", host: "127.0.0.1:3334" },
  });
  const usage = await gantry.call("GET", "/api/v2/usage", { key: ann });
  expect(usage.body.results[0]).toMatchObject({ model_name: "gantry/text", door: "mcp", status: 200 });

  const before = memory.tokens;
  expect(before).toMatchObject({ token_type: "Bearer", expires_in: 3600, scope: "mcp" });
  await expire(before?.access_token);
  expect((await client.listTools()).tools).toHaveLength(1);
  expect(memory.tokens?.access_token).not.toBe(before?.access_token);
  expect(memory.tokens?.refresh_token).not.toBe(before?.refresh_token);
  expect(memory.sentTo).toHaveLength(1);

  const revoked = await gantry.call("DELETE", `/api/v2/keys/${app.id}`, { key: ann });
  expect(revoked.status, revoked.text).toBe(204);
  expect(await statusAtMcp(gantry, memory.tokens?.access_token ?? "")).toBe(401);
  // Its refresh token does not help either, so the client has to ask the person.
  await expect(client.listTools()).rejects.toThrow();
  expect(memory.sentTo).toHaveLength(2);
  expect(await appsOf(ann)).toEqual([]);
  await client.close();
});

test("an app ends its connection itself, and no secret of the flow is in the log", async () => {
  const { memory, client } = await connected({ name: "App that leaves", models: ["gantry/text"] });
  const { access_token = "", refresh_token = "" } = memory.tokens ?? {};
  const clientId = memory.client?.client_id ?? "";
  const revoked = await post(gantry, "/oauth/revoke", { token: refresh_token, client_id: clientId });
  expect([revoked.status, await statusAtMcp(gantry, access_token)]).toEqual([200, 401]);
  const records = await gantry.database.sql<{ action: string; entry: { actor: object; object: object } }[]>`
    select action, entry from audit_records where action like 'key.%' order by seq desc limit 2`;
  const name = { name: "App that leaves" };
  expect(records).toMatchObject([
    { action: "key.revoke", entry: { actor: { type: "anonymous" }, object: name } },
    { action: "key.create", entry: { actor: { type: "user", username: "ann", session: true }, object: name } },
  ]);
  expect(JSON.stringify(records)).not.toMatch(/g[acr]_[0-9a-z]{12}_/);
  await client.close();
  for (const secret of [access_token, refresh_token, memory.verifier, "state-1", "gc_", "gr_", "ga_"]) {
    expect(gantry.logged()).not.toContain(secret);
  }
});

test("an access token works at /mcp and nowhere else", async () => {
  const { memory, client } = await connected({ models: ["gantry/text", "gantry/image"] });
  const token = memory.tokens?.access_token ?? "";
  expect(await statusAtMcp(gantry, token)).toBe(200);
  const headers = { authorization: `Bearer ${token}` };
  const elsewhere = [
    ["GET", "/api/v2/me", {}],
    ["GET", "/api/v2/keys", {}],
    ["GET", "/v1/models", {}],
    ["GET", "/metrics", {}],
    ["GET", "/console/api/session", {}],
    ["POST", "/api/v1/gantry/text/predict", { form: { prompt: "x" } }],
    ["POST", "/v1/chat/completions", { json: { model: "gantry/text", messages: [{ role: "user", content: "x" }] } }],
    ["POST", "/v1/mcp-servers", { json: {} }],
  ] as const;
  for (const [method, path, body] of elsewhere) {
    const answer = await gantry.call(method, path, { ...body, key: "", headers });
    expect([path, answer.status]).toEqual([path, 401]);
    expect(answer.text).toContain("Access tokens of connected apps work at /mcp only");
  }
  // It does not open a session of the console.
  const session = await gantry.call("POST", "/console/api/session", { key: "", json: { key: token } });
  expect([session.status, session.headers.get("set-cookie")]).toEqual([401, null]);
  await client.close();
});

test("a disabled user's apps stop, and work again after it is enabled", async () => {
  const { memory, client } = await connected({ models: ["gantry/text"] });
  const token = memory.tokens?.access_token ?? "";
  const disable = (disabled: boolean) => gantry.call("PATCH", "/api/v2/admin/users/ann", { json: { disabled } });
  await disable(true);
  const refreshed = await post(gantry, "/oauth/token", {
    grant_type: "refresh_token",
    refresh_token: memory.tokens?.refresh_token ?? "",
    client_id: memory.client?.client_id ?? "",
  });
  expect([await statusAtMcp(gantry, token), refreshed.body?.error]).toEqual([401, "invalid_grant"]);
  await disable(false);
  expect(await statusAtMcp(gantry, token)).toBe(200);
  await client.close();
});
