import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type AgentRuns, startAgentRuns } from "../../support/agent-runs.ts";
import type { Answer } from "../../support/gantry.ts";
import {
  type AuthorizationServer,
  type ProtectedServer,
  returnTo,
  signIn,
  startAuthorizationServer,
  startProtectedServer,
} from "../../support/oauth-servers.ts";
import { inTurn } from "../../support/scripted-llm.ts";

let t: AgentRuns;
let issuer: AuthorizationServer;
let protectedServer: ProtectedServer;
let names = 0;

beforeAll(async () => {
  t = await startAgentRuns();
  issuer = await startAuthorizationServer();
  protectedServer = await startProtectedServer(issuer);
});
afterAll(async () => {
  await t.close();
  await protectedServer.close();
  await issuer.close();
});
beforeEach(() => {
  issuer.before = () => false;
  issuer.lifetime = 3600;
  protectedServer.isClosed = false;
  protectedServer.tokens.length = 0;
  issuer.asked.length = 0;
  t.llm.script = () => ({ text: "done" });
  t.llm.requests.length = 0;
});

async function register(fields: object = {}, key?: string): Promise<Answer["body"]> {
  const json = {
    name: `oauth${++names}`,
    url: protectedServer.url,
    connection_type: "streamable_http",
    auth: { type: "oauth" },
    ...fields,
  };
  const made = await t.gantry.call("POST", "/v1/mcp-servers", { json, ...(key && { key }) });
  expect(made.status, made.text).toBe(201);
  return made.body;
}

const read = async (id: string) => (await t.gantry.call("GET", `/v1/mcp-servers/${id}`)).body;
const toolsOf = (id: string) => t.gantry.call("GET", `/v1/mcp-servers/${id}/tools`);
const callback = returnTo;

async function authorized(login: string, fields: object = {}): Promise<Answer["body"]> {
  const server = await register(fields);
  const page = await callback(await signIn(server.authorization_url, login));
  expect(page.status, page.text).toBe(200);
  return server;
}

describe("a server with OAuth", () => {
  test("is registered, authorized in a browser and used by its owner", async () => {
    const server = await register();
    expect(server).toMatchObject({ status: "authorization_required", last_error: null, auth: { type: "oauth" } });
    const link = new URL(server.authorization_url);
    expect(Object.fromEntries(link.searchParams)).toMatchObject({
      response_type: "code",
      code_challenge_method: "S256",
      resource: protectedServer.url,
      scope: "tools offline_access",
      redirect_uri: `${t.gantry.url}/hooks/oauth/callback`,
    });
    expect((await toolsOf(server.id)).body.error).toMatchObject({ type: "upstream_error" });
    const page = await callback(await signIn(server.authorization_url, "ann"));
    expect([page.status, page.text]).toEqual([200, expect.stringContaining("Connected. You can close this window.")]);
    expect(page.asked).toContain(`Connect ${new URL(server.url).host} for the Gantry user admin?`);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    const now = await read(server.id);
    expect(now).toMatchObject({ status: "connected", last_error: null });
    expect(now).not.toHaveProperty("authorization_url");
    expect((await toolsOf(server.id)).body.tools).toEqual([
      { name: "whoami", description: "Tools of ann.", parameters: expect.anything() },
    ]);
    // Every user of the database reads only sealed tokens, and none is in the log.
    const audit = await t.gantry.call("GET", "/api/v2/admin/audit?action=tool_server.authorize");
    expect(audit.body.results).toEqual([
      expect.objectContaining({
        actor: expect.objectContaining({ username: "admin", key_id: null }),
        object: { type: "tool_server", id: server.id, name: server.name },
        origin: expect.objectContaining({ address: "127.0.0.1" }),
      }),
    ]);
    const token = protectedServer.tokens.at(-1) ?? "";
    expect(token.length).toBeGreaterThan(20);
    expect(t.gantry.logged()).not.toContain(token);
    const rows = await t.gantry.database.sql`select * from tool_server_authorizations where server_id = ${server.id}`;
    expect(JSON.stringify(rows)).not.toContain(token);
    expect(Buffer.from(rows[0]?.sealed_tokens).toString("latin1")).not.toContain(token);
  });

  test("a state works once, and only the right one works", async () => {
    const server = await register();
    const url = await signIn(server.authorization_url, "ann");
    const wrong = await callback(`${url}x`.replace(/state=[^&]+/, "state=wrong"));
    expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining("Not connected")]);
    expect((await callback(url)).status).toBe(200);
    const again = await callback(url);
    expect([again.status, again.text]).toEqual([400, expect.stringContaining("already used")]);
    expect(await read(server.id)).toMatchObject({ status: "connected" });
  });

  test("an expired link and a refusal authorize nothing", async () => {
    const server = await register();
    const url = await signIn(server.authorization_url, "ann");
    await t.gantry.database.sql`
      update tool_server_flows set expires_at = now() - interval '1 second' where server_id = ${server.id}`;
    expect((await callback(url)).text).toContain("has expired");
    const { body } = await t.gantry.call("POST", `/v1/mcp-servers/${server.id}/authorize`);
    const state = new URL(body.authorization_url).searchParams.get("state");
    const denied = await callback(
      `${t.gantry.url}/hooks/oauth/callback?error=access_denied&state=${state}&iss=${encodeURIComponent(issuer.issuer)}`,
    );
    expect([denied.status, denied.text]).toEqual([400, expect.stringContaining("Access was not granted")]);
    expect(await read(server.id)).toMatchObject({ status: "authorization_required" });
  });

  test("an answer that names another issuer, or none, is not redeemed", async () => {
    const server = await register();
    const url = await signIn(server.authorization_url, "ann");
    const before = issuer.asked.length;
    const mixed = await callback(url.replace(/iss=[^&]+/, `iss=${encodeURIComponent("http://127.0.0.1:9")}`));
    expect([mixed.status, mixed.text]).toEqual([400, expect.stringContaining("another authorization server")]);
    expect(issuer.asked.slice(before)).toEqual([]);
    // The state is used up.
    expect((await callback(url)).status).toBe(400);
  });

  test("text from the authorization server is escaped", async () => {
    const server = await register();
    const state = new URL(server.authorization_url).searchParams.get("state");
    const iss = encodeURIComponent(issuer.issuer);
    const page = await callback(
      `${t.gantry.url}/hooks/oauth/callback?error=oops&error_description=%3Cscript%3Ealert(1)%3C/script%3E&state=${state}&iss=${iss}`,
    );
    expect(page.text).toContain("&lt;script&gt;");
    expect(page.text).not.toContain("<script>");
  });
});

describe("documents that are wrong", () => {
  async function registered(metadata: Record<string, unknown>) {
    const other = await startProtectedServer(issuer);
    Object.assign(other.metadata, metadata);
    const server = await register({ url: other.url });
    await other.close();
    return server;
  }

  test("a resource of another server is refused", async () => {
    const server = await registered({ resource: protectedServer.url });
    expect(server).toMatchObject({ status: "unauthorized", last_error: expect.stringContaining("another server") });
    expect(server).not.toHaveProperty("authorization_url");
  });

  test("an authorization server that claims to be another one is refused", async () => {
    const liar = await startAuthorizationServer();
    liar.before = (request, response) => {
      if (!request.url?.startsWith("/.well-known/")) return false;
      const documents = { issuer: issuer.issuer, authorization_endpoint: `${issuer.issuer}/auth` };
      response.end(JSON.stringify({ ...documents, token_endpoint: `${liar.issuer}/token` }));
      return true;
    };
    const server = await registered({ authorization_servers: [liar.issuer] });
    await liar.close();
    expect(server).toMatchObject({ status: "unauthorized", last_error: expect.stringContaining("another issuer") });
  });

  test("an authorization server that sends the browser to another one is refused, unless it names itself", async () => {
    const hostile = await startAuthorizationServer();
    const documents = {
      issuer: hostile.issuer,
      authorization_endpoint: `${issuer.issuer}/auth`,
      token_endpoint: `${hostile.issuer}/token`,
      registration_endpoint: `${issuer.issuer}/reg`,
      authorization_response_iss_parameter_supported: false,
    };
    hostile.before = (request, response) => {
      if (!request.url?.startsWith("/.well-known/")) return false;
      response.setHeader("content-type", "application/json").end(JSON.stringify(documents));
      return true;
    };
    const refused = await registered({ authorization_servers: [hostile.issuer] });
    expect(refused).toMatchObject({ status: "unauthorized", last_error: expect.stringContaining("RFC 9207") });
    documents.authorization_response_iss_parameter_supported = true;
    const asked = await registered({ authorization_servers: [hostile.issuer] });
    const page = await callback(await signIn(asked.authorization_url, "ann"));
    expect(page.text).toContain("another authorization server");
    expect(hostile.asked).not.toContain("authorization_code");
    await hostile.close();
  });

  test("endpoints without https on public hosts are refused", async () => {
    const server = await registered({ authorization_servers: ["http://login.example.com"] });
    expect(server).toMatchObject({ status: "unauthorized", last_error: expect.stringContaining("https") });
  });

  test("an authorization server without registration asks for a client", async () => {
    const closed = await startAuthorizationServer({ hasRegistration: false });
    const other = await startProtectedServer(closed);
    const server = await register({ url: other.url });
    expect(server).toMatchObject({ status: "unauthorized", last_error: expect.stringContaining("client_id") });
    const { status, body } = await t.gantry.call("POST", `/v1/mcp-servers/${server.id}/authorize`);
    expect([status, body.error.type]).toEqual([502, "upstream_error"]);
    await other.close();
    await closed.close();
  });
});

describe("a given client", () => {
  test("is used with its secret, which is never shown", async () => {
    const secret = "secret of the client: %+&";
    const client = {
      client_id: "my client",
      client_secret: secret,
      redirect_uris: [`${t.gantry.url}/hooks/oauth/callback`],
      grant_types: ["authorization_code", "refresh_token"],
      application_type: "native",
    };
    const own = await startAuthorizationServer({ clients: [client], hasRegistration: false });
    const other = await startProtectedServer(own);
    const auth = { type: "oauth", client_id: "my client", client_secret: secret, scope: "tools offline_access" };
    const server = await register({ url: other.url, auth });
    expect(server.auth).toEqual({ type: "oauth", client_id: "my client", scope: "tools offline_access" });
    expect((await callback(await signIn(server.authorization_url, "ann"))).status).toBe(200);
    expect((await toolsOf(server.id)).status).toBe(200);
    expect(t.gantry.logged() + JSON.stringify(await read(server.id))).not.toContain(secret);
    // The secret must not reach the authorization server of another host.
    const moved = await t.gantry.call("PATCH", `/v1/mcp-servers/${server.id}`, { json: { url: protectedServer.url } });
    expect([moved.status, moved.text]).toEqual([400, expect.stringContaining("auth")]);
    // Nor one that the tool server names later, also at another address of the same origin.
    other.metadata.authorization_servers = [issuer.issuer];
    await t.gantry.database.sql`delete from tool_server_clients where server_id = ${server.id}`;
    await t.gantry.call("DELETE", `/v1/mcp-servers/${server.id}/authorization`);
    for (const url of [other.url, `${other.url}?a=1`]) {
      await t.gantry.call("PATCH", `/v1/mcp-servers/${server.id}`, { json: { url } });
      const { body } = await t.gantry.call("POST", `/v1/mcp-servers/${server.id}/authorize`);
      expect(body.error?.message, url).toContain("before it was");
    }
    await other.close();
    await own.close();
  });
});

describe("tokens", () => {
  test("are refreshed before they end, and the new refresh token is kept", async () => {
    issuer.lifetime = 5;
    const server = await authorized("ann");
    for (let n = 0; n < 3; n++) {
      const due = t.gantry.database.sql`
        update tool_server_authorizations set refresh_at = now() where server_id = ${server.id}`;
      await due;
      expect((await toolsOf(server.id)).status).toBe(200);
    }
    expect(issuer.asked.filter((one) => one === "refresh_token")).toHaveLength(3);
    expect(new Set(protectedServer.tokens.filter((one) => one !== undefined)).size).toBe(4);
  });

  test("a token that the server refuses is refreshed once", async () => {
    const server = await authorized("ann");
    const [first] = protectedServer.tokens.filter((one) => one !== undefined);
    await (await issuer.provider.AccessToken.find(first ?? ""))?.destroy();
    expect((await toolsOf(server.id)).status).toBe(200);
    expect(issuer.asked.filter((one) => one === "refresh_token")).toHaveLength(1);
  });

  test("a refusal of a fresh token ends in authorization_required, not in a loop", async () => {
    const server = await authorized("ann");
    protectedServer.isClosed = true;
    protectedServer.tokens.length = 0;
    expect((await toolsOf(server.id)).status).toBe(502);
    expect(await read(server.id)).toMatchObject({ status: "authorization_required" });
    const asked = protectedServer.tokens.length;
    expect((await toolsOf(server.id)).body.error.message).toContain("requires your authorization");
    expect(protectedServer.tokens).toHaveLength(asked);
    expect(issuer.asked.filter((one) => one === "refresh_token")).toHaveLength(1);
    // The owner authorizes again.
    protectedServer.isClosed = false;
    const { authorization_url: link } = await read(server.id);
    const fresh =
      link ?? (await t.gantry.call("POST", `/v1/mcp-servers/${server.id}/authorize`)).body.authorization_url;
    expect((await callback(await signIn(fresh, "ann"))).status).toBe(200);
    expect(await read(server.id)).toMatchObject({ status: "connected" });
  });

  test("an authorization server that is down keeps them", async () => {
    const server = await authorized("ann");
    await t.gantry.database.sql`
      update tool_server_authorizations set refresh_at = now() where server_id = ${server.id}`;
    issuer.before = (_request, response, form) => form.has("refresh_token") && !!response.writeHead(503).end();
    // Until the token ends, it is used.
    expect((await toolsOf(server.id)).status).toBe(200);
    await (await issuer.provider.AccessToken.find(protectedServer.tokens.at(-1) ?? ""))?.destroy();
    expect((await toolsOf(server.id)).status).toBe(502);
    expect(await read(server.id)).toMatchObject({ status: "unreachable" });
    issuer.before = () => false;
    expect((await toolsOf(server.id)).status).toBe(200);
    expect(await read(server.id)).toMatchObject({ status: "connected" });
  });

  test("are revoked and deleted when the owner forgets them", async () => {
    const server = await authorized("ann");
    const token = protectedServer.tokens.at(-1) ?? "";
    const path = `/v1/mcp-servers/${server.id}/authorization`;
    expect((await t.gantry.call("DELETE", path)).status).toBe(204);
    expect((await t.gantry.call("DELETE", path)).status).toBe(404);
    expect(await read(server.id)).toMatchObject({
      status: "authorization_required",
      authorization_url: expect.any(String),
    });
    await expect.poll(() => issuer.provider.AccessToken.find(token), { timeout: 10_000 }).toBeUndefined();
  });

  test("are forgotten when the address or the client changes, but not with the name", async () => {
    const server = await authorized("ann");
    const change = (json: object) => t.gantry.call("PATCH", `/v1/mcp-servers/${server.id}`, { json });
    expect((await change({ name: `renamed${++names}` })).body).toMatchObject({ status: "connected" });
    expect((await change({ url: `${protectedServer.url}?a=1` })).body).toMatchObject({
      status: "authorization_required",
    });
    const rows = await t.gantry.database.sql`select from tool_server_authorizations where server_id = ${server.id}`;
    expect(rows).toHaveLength(0);
    await change({ url: protectedServer.url });
    const { authorization_url: link } = await read(server.id);
    expect((await callback(await signIn(link, "ann"))).status).toBe(200);
    expect((await change({ auth: { type: "oauth", scope: "tools" } })).body.status).toBe("authorization_required");
  });
});

describe("a shared agent", () => {
  const call = (name: string) => inTurn({ calls: [{ name: `${name}__whoami`, args: {} }] }, { text: "done" });

  test("uses the authorization of the caller, never the creator's", async () => {
    const server = await authorized("creator");
    const agent = await t.makeAgent({ mcp_servers: [{ id: server.id }], visibility: "public" });
    const key = await t.gantry.newUser("caller");
    const path = `/v1/agents/${agent}/authorizations`;

    const first = await t.run(agent, {}, { key });
    expect(t.llm.requests[0]?.tools ?? []).toEqual([]);
    const [planning] = await t.events(first.body.id, { key });
    expect(planning.message).toContain(`${server.name} (${new URL(protectedServer.url).host})`);
    const [link = ""] = /http\S+\/auth\?\S+/.exec(planning.message) ?? [];
    // The model could pass the link on.
    expect(JSON.stringify(t.llm.requests)).not.toContain("/auth?");
    const listed = await t.gantry.call("GET", path, { key });
    expect(listed.body.authorizations).toEqual([
      {
        server_id: server.id,
        server_name: server.name,
        host: new URL(protectedServer.url).host,
        status: "authorization_required",
        authorization_url: link,
      },
    ]);
    expect(await read(server.id)).toMatchObject({ status: "connected" });

    expect((await callback(await signIn(link, "caller"))).status).toBe(200);
    for (const [login, by] of [["caller", { key }] as const, ["creator", {}] as const]) {
      t.llm.requests.length = 0;
      t.llm.script = call(server.name);
      expect((await t.run(agent, {}, by)).body).toMatchObject({ status: "done" });
      expect(t.told(1)).toEqual([`account ${login}`]);
      // Lists of tools are kept for each user, too.
      expect(JSON.stringify(t.llm.requests[0]?.tools)).toContain(`Tools of ${login}.`);
    }
    const granted = await t.gantry.call("GET", path, { key });
    expect(granted.body.authorizations).toMatchObject([{ status: "authorized" }]);

    // Each user forgets only their own.
    expect((await t.gantry.call("DELETE", `/v1/mcp-servers/${server.id}/authorization`, { key })).status).toBe(204);
    expect((await toolsOf(server.id)).status).toBe(200);
    expect((await t.gantry.call("GET", path, { key })).body.authorizations).toMatchObject([
      { status: "authorization_required" },
    ]);
    // The server stays the creator's.
    for (const [method, end] of [["GET", ""] as const, ["POST", "/authorize"] as const, ["GET", "/tools"] as const]) {
      expect((await t.gantry.call(method, `/v1/mcp-servers/${server.id}${end}`, { key })).status).toBe(404);
    }
  });

  test("a key limited to models sees what is missing, without links", async () => {
    const server = await register();
    const agent = await t.makeAgent({ mcp_servers: [{ id: server.id }], visibility: "public" });
    const key = await t.gantry.newUser("confined", { key: { models: ["admin/llm"] } });
    const { body } = await t.gantry.call("GET", `/v1/agents/${agent}/authorizations`, { key });
    expect(body.authorizations).toEqual([expect.objectContaining({ status: "authorization_required" })]);
    expect(body.authorizations[0]).not.toHaveProperty("authorization_url");
    const run = await t.run(agent, {}, { key });
    expect(JSON.stringify(await t.events(run.body.id, { key }))).not.toContain("/auth?");
  });
});
