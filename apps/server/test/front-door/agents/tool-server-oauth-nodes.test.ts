import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import {
  type AuthorizationServer,
  type ProtectedServer,
  returnTo,
  signIn,
  startAuthorizationServer,
  startProtectedServer,
} from "../../support/oauth-servers.ts";
import { waitFor } from "../../support/wait-for.ts";

let nodes: [GantryNode, GantryNode];
let issuer: AuthorizationServer;
let protectedServer: ProtectedServer;
let id: string;

beforeAll(async () => {
  const first = await startGantry();
  nodes = [first, await startGantry({ beside: first })];
  issuer = await startAuthorizationServer();
  protectedServer = await startProtectedServer(issuer);
});
afterAll(async () => {
  for (const node of nodes.toReversed()) await node.close();
  await protectedServer.close();
  await issuer.close();
});

let names = 0;
beforeEach(async () => {
  issuer.before = () => false;
  protectedServer.before = () => {};
  const json = { name: `s${++names}`, url: protectedServer.url, connection_type: "streamable_http" };
  const made = await nodes[0].call("POST", "/v1/mcp-servers", { json: { ...json, auth: { type: "oauth" } } });
  id = made.body.id;
  // Any node finishes what another one started.
  const url = (await signIn(made.body.authorization_url, "ann")).replace(nodes[0].url, nodes[1].url);
  expect((await returnTo(url)).status).toBe(200);
  issuer.asked.length = 0;
});

const toolsOn = async (node: GantryNode) => (await node.call("GET", `/v1/mcp-servers/${id}/tools`)).status;
const statusOf = async () => (await nodes[0].call("GET", `/v1/mcp-servers/${id}`)).body.status;
const refreshes = () => issuer.asked.filter((one) => one === "refresh_token").length;
const makeDue = () => nodes[0].database.sql`
  update tool_server_authorizations set refresh_at = now() where server_id = ${id}`;

test("two nodes refresh at once: one asks, both use its tokens", async () => {
  issuer.before = async (_request, _response, form) => {
    if (form.get("grant_type") === "refresh_token") await new Promise((resolve) => setTimeout(resolve, 1000));
    return false;
  };
  for (let round = 1; round <= 2; round++) {
    await makeDue();
    const answers = await Promise.all([...nodes, ...nodes].map(toolsOn));
    expect([answers, refreshes()]).toEqual([[200, 200, 200, 200], round]);
  }
});

test("a new token does not fail with a connection that was begun with the former one", async () => {
  const [node] = nodes;
  const former = protectedServer.tokens.at(-1) ?? "";
  await (await issuer.provider.AccessToken.find(former))?.destroy();
  const [refresh, handshake] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  issuer.before = async (_request, _response, form) => {
    if (form.get("grant_type") === "refresh_token") await refresh.promise;
    return false;
  };
  const first = toolsOn(node);
  await waitFor("the refresh", () => refreshes() === 1);
  let held = 0;
  protectedServer.before = (token) => {
    if (token === former && ++held > 0) return handshake.promise;
  };
  const second = toolsOn(node);
  await waitFor("the handshake with the former token", () => held === 1);
  refresh.resolve();
  expect(await first).toBe(200);
  handshake.resolve();
  expect([await second, await statusOf(), refreshes()]).toEqual([200, "connected", 1]);
});

test("tokens that arrived but were not stored end in authorization_required, without a loop", async () => {
  let isForwarded = false;
  issuer.before = async (request, response, form) => {
    if (form.get("grant_type") !== "refresh_token" || isForwarded) return false;
    isForwarded = true;
    // The authorization server has replaced the refresh token; the node that asked never stores the new one.
    const { authorization = "" } = request.headers;
    const answer = await fetch(`${issuer.issuer}${request.url}`, {
      method: "POST",
      body: form,
      headers: { authorization },
    });
    expect(answer.status, await answer.text()).toBe(200);
    response.destroy();
    return true;
  };
  await makeDue();
  // The former access token still works; the former refresh token does not.
  expect(await toolsOn(nodes[0])).toBe(200);
  expect(await toolsOn(nodes[1])).toBe(502);
  expect(await statusOf()).toBe("authorization_required");
  const asked = refreshes();
  expect([await toolsOn(nodes[0]), await toolsOn(nodes[1]), refreshes()]).toEqual([502, 502, asked]);
});

test("a node takes over from one that died while it refreshed", async () => {
  await makeDue();
  await nodes[0].database.sql`
    update tool_server_authorizations set refresh_claim = 'dead', refresh_lease_until = now() + interval '2 seconds'
    where server_id = ${id}`;
  expect(await toolsOn(nodes[1])).toBe(200);
  expect(refreshes()).toBe(1);
  expect(await statusOf()).toBe("connected");
});

test("a refused refresh requires a new authorization, also with the status 200 that GitHub answers", async () => {
  issuer.before = (_request, response, form) => {
    if (form.get("grant_type") !== "refresh_token") return false;
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: "bad_refresh_token", error_description: "The refresh token is expired." }));
    return true;
  };
  await makeDue();
  expect(await toolsOn(nodes[0])).toBe(502);
  expect(await statusOf()).toBe("authorization_required");
});

test("a forgotten authorization is gone on all nodes", async () => {
  expect(await toolsOn(nodes[1])).toBe(200);
  expect((await nodes[0].call("DELETE", `/v1/mcp-servers/${id}/authorization`)).status).toBe(204);
  expect(await toolsOn(nodes[1])).toBe(502);
});

test("a code that is refused keeps the registration; an unknown client is registered again", async () => {
  const linkOf = async () => (await nodes[0].call("POST", `/v1/mcp-servers/${id}/authorize`)).body.authorization_url;
  const failWith = async (error: string) => {
    issuer.before = (_request, response, form) => {
      if (form.get("grant_type") !== "authorization_code") return false;
      response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify({ error }));
      return true;
    };
    expect((await returnTo(await signIn(await linkOf(), "ann"))).status).toBe(400);
    issuer.asked.length = 0;
    await linkOf();
    return issuer.asked.includes("/reg");
  };
  expect(await failWith("invalid_grant")).toBe(false);
  expect(await failWith("invalid_client")).toBe(true);
});

test("a client that was registered for the former address is not kept", async () => {
  const { database } = nodes[0];
  const clients = () => database.sql`select from tool_server_clients where server_id = ${id}`;
  await database.sql`delete from tool_server_clients where server_id = ${id}`;
  const link = await database.transaction(async (tx) => {
    // As a change of the address does.
    await tx`update tool_servers set revision = revision + 1 where id = ${id}`;
    await tx`delete from tool_server_clients where server_id = ${id}`;
    const asked = nodes[1].call("POST", `/v1/mcp-servers/${id}/authorize`);
    const waits = waitFor("the client to wait for the change", async () => {
      const { count } = await database.sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
          and query like '%into tool_server_clients%'`;
      return count > 0;
    });
    await Promise.race([asked, waits]);
    return { asked };
  });
  expect((await link.asked).status).toBe(409);
  expect(await clients()).toHaveLength(0);
});
