import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { selectSeats } from "../../../src/features/accounts/teams/caller-store.ts";
import {
  type AuthorizationServer,
  type ProtectedServer,
  startAuthorizationServer,
  startProtectedServer,
} from "../../support/oauth-servers.ts";
import { type RunsWithTenant, startRunsWithTenant } from "../../support/runs-with-tenant.ts";
import { type Calls, messageOf, type TeamCalls, teamCalls } from "./teams.fixture.ts";

let runs: RunsWithTenant;
let calls: TeamCalls;
let issuer: AuthorizationServer;
let protectedServer: ProtectedServer;
const names = ["olga", "anna", "mark", "sam"] as const;
const keys = {} as Record<(typeof names)[number], string>;
const lab = (name: keyof typeof keys): Calls => calls.as(keys[name], "lab");

beforeAll(async () => {
  runs = await startRunsWithTenant();
  issuer = await startAuthorizationServer();
  protectedServer = await startProtectedServer(issuer);
  calls = teamCalls(runs.t.gantry);
  for (const name of names) keys[name] = await runs.t.gantry.newUser(name);
  await calls.newTeam("lab", "olga");
  await calls.add("lab", "anna", { role: "admin" });
  await calls.add("lab", "mark");
}, 60_000);
afterAll(async () => {
  await runs.close();
  await protectedServer.close();
  await issuer.close();
});

const refused = async (call: ReturnType<Calls["get"]>, status: number, text: string) => {
  const answer = await call;
  expect([answer.status, messageOf(answer)], answer.text).toEqual([status, expect.stringContaining(text)]);
};
const agent = (more: object = {}) => ({
  json: { name: "Helper", goal: "Help.", tools: [], model: "admin/llm", ...more },
});
const publish = async (by: Calls, id: string) => by.made("POST", `/v1/agents/${id}/publish`, { json: {} });

test("an admin cannot get a secret with which it would be another member", async () => {
  const ofOwner = (await lab("olga").made("POST", "/api/v2/keys", { json: { name: "deploy" } })).body;
  const ofMember = (await lab("mark").made("POST", "/api/v2/keys", { json: { name: "bot" } })).body;
  for (const { id } of [ofOwner, ofMember]) {
    const rotate = (by: Calls) => by.send("POST", `/api/v2/keys/${id}/rotate`, { json: {} });
    await refused(rotate(lab("anna")), 403, "Only the member who created the key");
  }
  await refused(
    lab("olga").send("POST", `/api/v2/keys/${ofMember.id}/rotate`, { json: {} }),
    403,
    "Only the member who created the key",
  );
  expect((await calls.as(ofOwner.key).get("/api/v2/me")).body.acting_user).toBe("olga");
  const rotated = await calls.as(ofMember.key).made("POST", `/api/v2/keys/${ofMember.id}/rotate`, { json: {} });
  expect((await calls.as(rotated.body.key).get("/api/v2/me")).body.acting_user).toBe("mark");
  await lab("anna").made("DELETE", `/api/v2/keys/${ofMember.id}`);
});

test("keys are limited for each account and each member, and a member with many is no larger in memory", async () => {
  const many = (username: string, of: string) => runs.t.gantry.database.sql`
    insert into api_keys (id, user_id, member_id, parent_id, public, secret_hash, name, created_at)
    select 'key_' || ${username} || n, u.id, m.user_id, m.seat_key_id,
      left(md5(${username} || n), 12), sha256(convert_to(n::text, 'UTF8')), 'old', now()
    from generate_series(1, 999) n, users u
    left join team_members m on m.team_id = u.id and m.user_id = (select id from users where username = ${username})
    where u.username = ${of}`;
  await many("mark", "lab");
  await many("sam", "sam");
  const last = (await lab("mark").made("POST", "/api/v2/keys", { json: {} })).body;
  for (const by of [lab("mark"), calls.as(last.key), calls.as(keys.sam)]) {
    await refused(by.send("POST", "/api/v2/keys", { json: {} }), 409, "at most 1000 keys");
  }
  await lab("anna").made("POST", "/api/v2/keys", { json: {} });
  const listed = await lab("mark").made("GET", "/api/v2/keys?page_size=1");
  expect(listed.body.total_count).toBe(1000);
  await lab("mark").made("DELETE", `/api/v2/keys/${last.id}`);
  await lab("mark").made("POST", "/api/v2/keys", { json: {} });
  const personId = (await runs.t.gantry.database.sql`select id from users where username = 'mark'`)[0]?.id ?? "";
  const [seat] = await selectSeats(runs.t.gantry.database.sql, [{ personId, team: "lab" }]);
  expect(JSON.stringify(seat?.team).length).toBeLessThan(300);
});

test("a plain member gets no link to authorize a tool server for the team", async () => {
  const json = {
    name: "files",
    url: protectedServer.url,
    connection_type: "streamable_http",
    auth: { type: "oauth" },
  };
  const server = (await lab("anna").made("POST", "/v1/mcp-servers", { json })).body;
  const mine = (await lab("mark").made("POST", "/v1/agents", agent({ mcp_servers: [{ id: server.id }] }))).body;
  await publish(lab("mark"), mine.id);
  const linksOf = async (by: Calls) => {
    const read = (await by.made("GET", `/v1/mcp-servers/${server.id}`)).body;
    const listed = (await by.made("GET", "/v1/mcp-servers")).body.mcp_servers[0];
    const [ofAgent] = (await by.made("GET", `/v1/agents/${mine.id}/authorizations`)).body.authorizations;
    return [read, listed, ofAgent].map((one) => typeof one.authorization_url);
  };
  expect(await linksOf(lab("anna"))).toEqual(["string", "string", "string"]);
  expect(await linksOf(lab("mark"))).toEqual(["undefined", "undefined", "undefined"]);
  runs.t.llm.script = () => ({ text: "done" });
  const run = (await lab("mark").made("POST", `/v1/agents/${mine.id}/runs`, { json: { input: {}, wait: 30 } })).body;
  const events = await lab("mark").made("GET", `/v1/runs/${run.id}/events/list`);
  expect(events.text).toContain("authoriz");
  expect(events.text).not.toContain(issuer.issuer);
});

test("a plain member cannot send the runs of others away, or strip or roll back what it may not change", async () => {
  const webhook = { url: "https://hook.example/runs" };
  const refusedIn = (call: ReturnType<Calls["get"]>, text: string) => refused(call, 403, text);
  await refusedIn(lab("mark").send("POST", "/v1/agents", agent({ webhook })), "webhook of an agent");
  const shared = (await lab("anna").made("POST", "/v1/agents", agent({ webhook }))).body;
  const path = `/v1/agents/${shared.id}`;
  await publish(lab("anna"), shared.id);
  const change = (json: object) => lab("mark").send("PATCH", path, { json });
  await refusedIn(change({ webhook: { url: "https://other.example/" } }), "webhook of an agent");
  await refusedIn(change({ webhook: null }), "webhook of an agent");
  expect((await change({ goal: "Help more." })).status).toBe(200);
  await publish(lab("mark"), shared.id);
  await lab("anna").made("PATCH", path, { json: { webhook: null } });
  await refusedIn(lab("mark").send("POST", `${path}/publish`, { json: {} }), "webhook of an agent");

  const [{ id: plain }] = (await lab("anna").made("GET", `${path}/revisions`)).body.revisions;
  await lab("anna").made("PUT", "/api/v2/secrets/crm", { json: { value: "x" } });
  const headers = { authorization: "Bearer {{secret:crm}}" };
  const tools = [{ type: "tool", id: "http_request", arguments: { url: "https://crm.example/", headers } }];
  await lab("anna").made("PATCH", path, { json: { tools } });
  await refusedIn(change({ tools: [] }), "send secrets");
  await publish(lab("anna"), shared.id);
  await lab("anna").made("PATCH", path, { json: { tools: [] } });
  await refusedIn(change({ goal: "Help." }), "send secrets");
  await refusedIn(lab("mark").send("POST", `${path}/publish`, { json: { revision_id: plain } }), "send secrets");
});

test("a plain member deletes private agents only", async () => {
  const shop = (await lab("anna").made("POST", "/v1/agents", agent({ visibility: "public" }))).body;
  await refused(lab("mark").send("DELETE", `/v1/agents/${shop.id}`), 403, "public agents");
  await lab("anna").made("DELETE", `/v1/agents/${shop.id}`);
  const own = (await lab("mark").made("POST", "/v1/agents", agent())).body;
  await lab("mark").made("DELETE", `/v1/agents/${own.id}`);
});

describe("the identity connector of a team", () => {
  beforeAll(async () => {
    const json = { domain: runs.tenant.domain, token: runs.tenant.issue(["read:users"]) };
    await lab("anna").made("PUT", "/v1/connectors/idp", { json });
  });

  const tools = async (by: Calls): Promise<string[]> => {
    const listed = await by.made("POST", "/mcp", {
      json: { jsonrpc: "2.0", id: 1, method: "tools/list" },
      headers: { accept: "application/json, text/event-stream" },
    });
    return [...listed.text.matchAll(/"name":"(idp_\w+)"/g)].map(([, name = ""]) => name);
  };

  test("is offered at /mcp to those who may use it", async () => {
    const action = "/v1/connectors/idp/actions/idp_users_list";
    await refused(lab("mark").send("POST", action, { json: { arguments: {} } }), 403, "Only admins and owners");
    expect(await tools(lab("anna"))).toContain("idp_users_list");
    expect(await tools(lab("mark"))).toEqual([]);
  });

  test("is not reached by agents of plain members, or by agents of others that they run", async () => {
    const idp = agent({ tools: ["idp_users_list"] });
    await refused(lab("mark").send("POST", "/v1/agents", idp), 403, "identity connector");
    const ofTeam = (await lab("anna").made("POST", "/v1/agents", idp)).body;
    await refused(
      lab("mark").send("PATCH", `/v1/agents/${ofTeam.id}`, { json: { goal: "Other." } }),
      403,
      "identity connector",
    );
    await publish(lab("anna"), ofTeam.id);
    const foreign = (
      await calls.as(keys.sam).made("POST", "/v1/agents", agent({ tools: ["idp_users_list"], visibility: "public" }))
    ).body;
    await publish(calls.as(keys.sam), foreign.id);
    const told = async (by: Calls, id: string) => {
      runs.forget();
      runs.t.llm.script = ({ messages }) =>
        messages.some(({ role }) => role === "tool")
          ? { text: "done" }
          : { calls: [{ name: "idp_users_list", args: { per_page: 1 } }] };
      const json = { input: {}, connectors: ["idp"], wait: 30 };
      expect((await by.made("POST", `/v1/agents/${id}/runs`, { json })).body.status).toBe("done");
      return runs.tenant.seen.length;
    };
    // What an admin has set up, members use.
    expect(await told(lab("mark"), ofTeam.id)).toBeGreaterThan(0);
    expect(await told(lab("anna"), foreign.id)).toBeGreaterThan(0);
    expect(await told(lab("mark"), foreign.id)).toBe(0);
  });
});
