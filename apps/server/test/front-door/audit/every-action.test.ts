import { afterAll, beforeAll, expect, test } from "vitest";
import { verifyAudit } from "../../../src/features/audit/index.ts";
import { accessTable } from "../../../src/http/foundation/access-table.ts";
import { auditedRoutes, isAudited } from "../../../src/http/foundation/audited-routes.ts";
import type { Answer, CallOptions } from "../../support/gantry.ts";
import { allScopes } from "../../support/idp-connector.ts";
import { type RunsWithTenant, startRunsWithTenant } from "../../support/runs-with-tenant.ts";
import { toolResults } from "../../support/scripted-llm.ts";
import { type ScriptedOllama, startScriptedOllama } from "../../support/scripted-ollama.ts";

/** In everything that is secret. */
const secret = "PLANTED";

let w: RunsWithTenant;
let ollama: ScriptedOllama;
const ids: Record<string, string> = { owner: "admin", model: "own", name: "own", username: "alice" };

beforeAll(async () => {
  w = await startRunsWithTenant();
  ollama = await startScriptedOllama([{ name: "llama3:8b" }]);
}, 60_000);
afterAll(async () => {
  await w.close();
  await ollama.close();
});

const call = (method: string, path: string, options?: CallOptions) => w.t.gantry.call(method, path, options);

interface Recorded {
  seq: number;
  action: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what was stored and states what it must be
  entry: any;
}

const last = async () => (await recordsAfter(0)).at(-1)?.seq ?? 0;
const recordsAfter = (seq: number) =>
  w.t.gantry.database.sql<Recorded[]>`select seq, action, entry from audit_records where seq > ${seq} order by seq`;

interface Step {
  row: string;
  options?: CallOptions | (() => CallOptions | Promise<CallOptions>);
  /** Replaces the path of the row. */
  path?: () => string;
  /** Ids that later steps need. */
  note?(answer: Answer): void;
  /** What the record must have. */
  has?: object;
}

const json = (body: unknown) => ({ json: body });
const manifest = () => ({
  title: "Own",
  kind: "text",
  visibility: "private",
  capacity: 5,
  context_window: 8000,
  pricing: { per_million_input_tokens: 1, per_million_output_tokens: 10 },
  input: { type: "object", properties: { prompt: { type: "string" } }, required: ["prompt"] },
  output: { type: "object", properties: { output: { type: "string", isStream: true } } },
  backend: { type: "openai-chat", url: w.t.llm.url, model: "m", secret: "crm" },
});
const provider = () =>
  json({ type: "ollama", url: ollama.url, headers: { "x-note": `${secret}-header` }, query: { n: secret } });
const ask = async () => {
  const calls = [{ name: "run_javascript", args: { code: `"${secret}"` } }];
  w.t.llm.script = (request) => (toolResults(request).length > 0 ? { text: "done" } : { calls });
  const { runId, asked } = await w.t.runUntilAsked(ids.agent_id ?? "", { input: {} });
  Object.assign(ids, { run_id: runId, confirmation_id: asked.id });
};

const steps: readonly Step[] = [
  {
    row: "PUT /api/v2/secrets/{name}",
    options: json({ value: `${secret}-secret` }),
    path: () => "/api/v2/secrets/crm",
  },
  { row: "PUT /api/v1/{owner}/{model}", options: () => json(manifest()), has: { object: { id: "admin/own" } } },
  {
    row: "PATCH /api/v1/{owner}/{model}",
    options: json({ title: "Other", context_window: 9000 }),
    has: { before: { title: "Own" }, after: { title: "Other", changed: ["context_window", "title"] } },
  },
  {
    row: "POST /api/v2/admin/models/{owner}/{name}/take-down",
    options: json({ reason: "spam" }),
    has: { after: { reason: "spam" } },
  },
  { row: "POST /api/v2/admin/models/{owner}/{name}/restore" },
  { row: "PUT /api/v2/aliases/{name}", options: json({ model: "admin/own" }), has: { owner: { username: "admin" } } },
  { row: "DELETE /api/v2/aliases/{name}", has: { before: { model: "admin/own" }, after: null } },
  { row: "PUT /api/v2/admin/aliases/{name}", options: json({ model: "admin/own" }), has: { owner: null } },
  { row: "DELETE /api/v2/admin/aliases/{name}" },
  {
    row: "PUT /api/v2/providers/{name}",
    options: provider,
    has: { after: { headers: ["x-note"], query: ["n"], type: "ollama" } },
  },
  { row: "POST /api/v2/providers/{name}/import", options: json({ models: [{ id: "llama3:8b" }] }) },
  { row: "DELETE /api/v2/providers/{name}" },
  { row: "PUT /api/v2/admin/providers/{name}", options: provider, has: { owner: { username: "gantry" } } },
  { row: "POST /api/v2/admin/providers/{name}/import", options: json({ models: [{ id: "llama3:8b" }] }) },
  { row: "DELETE /api/v2/admin/providers/{name}" },
  {
    row: "PUT /api/v2/admin/secrets/{name}",
    options: json({ value: `${secret}-house` }),
    has: { after: { replaced: false } },
  },
  { row: "DELETE /api/v2/admin/secrets/{name}" },
  { row: "DELETE /api/v1/{owner}/{model}", has: { before: { title: "Other" }, after: null } },
  { row: "DELETE /api/v2/secrets/{name}", path: () => "/api/v2/secrets/crm" },
  { row: "DELETE /api/v1/{owner}/{model}", path: () => "/api/v1/gantry/image" },
  { row: "POST /api/v1/{owner}/{model}/restore", path: () => "/api/v1/gantry/image/restore" },

  {
    row: "PUT /api/v2/admin/plans/{name}",
    options: json({ requests_per_minute: 9, parallel: 2 }),
    has: { before: null, after: { requests_per_minute: 9, parallel: 2 }, owner: null },
  },
  {
    row: "POST /api/v2/admin/users",
    options: json({ username: "alice", plan: "own", password: `${secret}-password` }),
    has: { object: { type: "user", name: "alice" }, after: { plan: "own", role: "user", password: "set" } },
  },
  {
    row: "PATCH /api/v2/admin/users/{username}",
    options: json({ plan: "pro", password: `${secret}-other` }),
    has: { before: { plan: "own" }, after: { plan: "pro", password: "set" } },
  },
  { row: "DELETE /api/v2/admin/plans/{name}", has: { before: { parallel: 2 } } },
  {
    row: "POST /api/v2/admin/users/{username}/password-reset",
    has: { action: "user.create_reset_link", object: { name: "alice" }, owner: { username: "alice" } },
  },
  {
    row: "DELETE /api/v2/admin/users/{username}/sessions",
    has: { object: { id: "all" }, owner: { username: "alice" } },
  },
  { row: "DELETE /api/v2/sessions", has: { object: { id: "all" }, owner: { username: "admin" } } },
  {
    row: "POST /api/v2/admin/users/{username}/credits",
    options: json({ amount: 3, reason: "gift" }),
    has: { after: { amount: 3, reason: "gift", balance: 3 } },
  },
  { row: "GET /api/v2/export", has: { object: { name: "admin" }, owner: { username: "admin" }, after: null } },
  {
    row: "GET /api/v2/admin/users/{username}/export",
    has: { object: { name: "alice" }, owner: { username: "alice" } },
  },
  { row: "POST /api/v2/teams", options: json({ name: "lab" }), has: { owner: { username: "lab" } } },
  {
    row: "POST /api/v2/teams/{team}/members",
    path: () => "/api/v2/teams/lab/members",
    options: json({ username: "alice", monthly_limit: 5 }),
    has: { object: { name: "alice" }, owner: { username: "lab" }, after: { role: "member", monthly_limit: 5 } },
  },
  {
    row: "PATCH /api/v2/teams/{team}/members/{username}",
    path: () => "/api/v2/teams/lab/members/alice",
    options: json({ role: "admin", monthly_limit: null }),
    has: { before: { role: "member", monthly_limit: 5 }, after: { role: "admin", monthly_limit: null } },
  },
  {
    row: "DELETE /api/v2/teams/{team}/members/{username}",
    path: () => "/api/v2/teams/lab/members/alice",
    has: { before: { role: "admin" }, after: null },
  },
  { row: "DELETE /api/v2/teams/{team}", path: () => "/api/v2/teams/lab", has: { object: { name: "lab" } } },
  {
    row: "POST /api/v2/admin/users/{username}/keys",
    options: json({ name: "phone", monthly_limit: 2 }),
    note: ({ body }) => Object.assign(ids, { id: body.id }),
    has: { after: { name: "phone", monthly_limit: 2 }, owner: { username: "alice" }, actor: { username: "admin" } },
  },
  {
    row: "PATCH /api/v2/admin/users/{username}/keys/{id}",
    options: json({ daily_limit: 3 }),
    has: { before: { daily_limit: null }, after: { daily_limit: 3 } },
  },
  { row: "DELETE /api/v2/admin/users/{username}/keys/{id}", has: { before: { name: "phone" }, after: null } },
  {
    row: "POST /api/v2/keys",
    options: json({ name: "laptop" }),
    note: ({ body }) => Object.assign(ids, { id: body.id }),
  },
  { row: "PATCH /api/v2/keys/{id}", options: json({ tokens_per_minute: 9 }), has: { after: { tokens_per_minute: 9 } } },
  { row: "POST /api/v2/keys/{id}/rotate", options: json({ grace_seconds: 5 }) },
  { row: "DELETE /api/v2/keys/{id}" },
  { row: "POST /api/v2/sign-in-links", options: json({ username: "alice" }), has: { object: { name: "alice" } } },
  { row: "POST /api/v2/webhooks/secret/rotate" },
  {
    row: "PUT /api/v2/notices/settings",
    options: json({
      balance_below: 5,
      budget_percent: 90,
      webhook: { url: `https://hooks.example/${secret}`, headers: { "x-token": secret }, query_params: { t: secret } },
    }),
    has: {
      object: { type: "notice_settings", name: "admin" },
      after: { balance_below: 5, budget_percent: 90, webhook: "https://hooks.example" },
    },
  },

  {
    row: "POST /v1/drives",
    options: json({ name: "Papers" }),
    note: ({ body }) => Object.assign(ids, { drive_id: body.id }),
  },
  { row: "PATCH /v1/drives/{drive_id}", options: json({ name: "Books" }), has: { before: { name: "Papers" } } },
  { row: "DELETE /v1/drives/{drive_id}" },
  {
    row: "POST /v1/mcp-servers",
    options: json({
      name: "tools",
      url: `http://127.0.0.1:9/${secret}/mcp?token=${secret}`,
      connection_type: "streamable_http",
      auth: { type: "bearer", token: `${secret}-token` },
    }),
    note: ({ body }) => Object.assign(ids, { mcp_server_id: body.id }),
    has: { after: { url: "http://127.0.0.1:9", auth: "bearer" } },
  },
  { row: "PATCH /v1/mcp-servers/{mcp_server_id}", options: json({ name: "more" }), has: { before: { name: "tools" } } },
  { row: "DELETE /v1/mcp-servers/{mcp_server_id}" },
  {
    row: "PUT /v1/connectors/idp",
    options: () => json({ domain: w.tenant.domain, token: w.tenant.issue(allScopes) }),
    has: { object: { id: "idp" } },
  },
  { row: "DELETE /v1/connectors/idp" },

  {
    row: "POST /v1/agents",
    options: json({
      name: "Asker",
      goal: `${secret}-goal`,
      tools: [{ type: "tool", id: "run_javascript", confirm: "always" }],
      model: "admin/llm",
    }),
    note: ({ body }) => Object.assign(ids, { agent_id: body.id }),
  },
  {
    row: "PATCH /v1/agents/{agent_id}",
    options: json({ goal: `${secret} again` }),
    has: { after: { changed: ["goal"], revision: 2 } },
  },
  { row: "POST /v1/agents/{agent_id}/publish", options: json({}), has: { object: { name: "admin/asker" } } },
  {
    row: "POST /v1/runs/{run_id}/confirmations/{confirmation_id}",
    options: async () => {
      await ask();
      return json({ approve: true });
    },
    has: { action: "confirmation.approve", after: { tool: "run_javascript", status: "approved" } },
  },
  {
    row: "POST /v1/runs/{run_id}/confirmations/{confirmation_id}",
    options: async () => {
      await ask();
      return json({ approve: false, reason: secret });
    },
    has: { action: "confirmation.deny" },
  },
  {
    row: "POST /v1/agents/{agent_id}/schedules",
    options: json({ cron: "0 9 1 1 *", input: { thing: secret } }),
    note: ({ body }) => Object.assign(ids, { schedule_id: body.id }),
    has: { after: { cron: "0 9 1 1 *", enabled: true } },
  },
  {
    row: "PATCH /v1/schedules/{schedule_id}",
    options: json({ input: { thing: `${secret}-2` } }),
    has: { after: { changed: ["input"] } },
  },
  { row: "DELETE /v1/schedules/{schedule_id}" },
  {
    row: "POST /v1/agents/{agent_id}/triggers",
    options: json({ name: "hook", verification: { type: "github", secret: `${secret}-hmac` } }),
    note: ({ body }) => Object.assign(ids, { trigger_id: body.id }),
  },
  { row: "PATCH /v1/triggers/{trigger_id}", options: json({ enabled: false }), has: { before: { enabled: true } } },
  { row: "POST /v1/triggers/{trigger_id}/rotate" },
  { row: "DELETE /v1/triggers/{trigger_id}" },
  {
    row: "POST /api/v2/admin/agents/{id}/take-down",
    options: json({ reason: "spam" }),
    path: () => `/api/v2/admin/agents/${ids.agent_id}/take-down`,
  },
  { row: "POST /api/v2/admin/agents/{id}/restore", path: () => `/api/v2/admin/agents/${ids.agent_id}/restore` },
  {
    row: "DELETE /api/v2/admin/users/{username}",
    has: { action: "user.delete", object: { name: "alice" }, before: { role: "user" }, after: null },
  },
  { row: "DELETE /v1/agents/{agent_id}", has: { object: { name: "admin/asker" } } },

  {
    row: "POST /console/api/session",
    options: () => ({ ...json({ key: w.t.gantry.adminKey }), key: "" }),
    note: ({ headers }) => Object.assign(ids, { cookie: headers.get("set-cookie")?.split(";")[0] }),
    has: { action: "session.open", actor: { type: "user", username: "admin" }, after: { by: "key" } },
  },
  {
    row: "DELETE /console/api/session",
    options: () => ({ key: "", headers: { cookie: ids.cookie ?? "", "x-gantry-console": "1" } }),
    has: { action: "session.close", actor: { username: "admin", session: true } },
  },
];

/** Tested with an authorization server, in `tool-server-oauth.test.ts`, and with apps, in `mcp/oauth-client.test.ts`. */
const elsewhere = [
  ...["POST /hooks/oauth/callback", "DELETE /v1/mcp-servers/{mcp_server_id}/authorization"],
  ...["POST /console/api/authorization", "POST /oauth/token", "POST /oauth/revoke"],
  // front-door/sign-in
  "DELETE /api/v2/sessions/{id}",
  "DELETE /api/v2/admin/users/{username}/sessions/{id}",
  "DELETE /api/v2/admin/users/{username}/identity",
  "PUT /api/v2/me/password",
  "DELETE /api/v2/me",
  "POST /console/api/password-reset",
  "GET /console/api/oidc/callback",
];

test("every route that can change something records an action, or says why not", () => {
  const changing = Object.keys(accessTable).filter((row) => !/^(GET|HEAD|OPTIONS) /.test(row));
  expect(changing.filter((row) => auditedRoutes[row] === undefined)).toEqual([]);
  expect(Object.keys(auditedRoutes).filter((row) => accessTable[row] === undefined)).toEqual([]);
  const audited = Object.keys(auditedRoutes).filter(isAudited);
  const tested = new Set([...steps.map(({ row }) => row), ...elsewhere]);
  expect(audited.filter((row) => !tested.has(row))).toEqual([]);
});

test("every such action leaves one record, without a secret", async () => {
  const began = await last();
  for (const { row, options, path, note, has } of steps) {
    const [method = "", template = ""] = row.split(" ");
    const given = typeof options === "function" ? await options() : options;
    const before = await last();
    const to = path?.() ?? template.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? name);
    const answer = await call(method, to, given);
    expect(answer.status, `${row}: ${answer.text}`).toBeLessThan(300);
    const records = await recordsAfter(before);
    expect(
      records.map(({ action }) => action),
      row,
    ).toHaveLength(1);
    const [record] = records;
    expect(auditedRoutes[row], row).toContain(record?.action);
    expect(record?.entry.actor, row).toMatchObject({ type: "user", username: "admin" });
    expect(record?.entry.origin, row).toMatchObject({ address: "127.0.0.1" });
    expect(record?.entry.origin.request_id, row).toBe(answer.headers.get("x-request-id"));
    if (has) expect(record?.entry, row).toMatchObject(has);
    note?.(answer);
  }
  const all = JSON.stringify(await recordsAfter(began));
  expect(all).not.toContain(secret);
  const report = await verifyAudit(w.t.gantry.database);
  expect(report).toMatchObject({ intact: true, last: await last() });
}, 60_000);

test("a refused action leaves no record", async () => {
  const before = await last();
  const conflict = await call("POST", "/api/v2/admin/users", json({ username: "alice" }));
  const unknown = await call("DELETE", "/api/v2/secrets/none");
  const lastAdmin = await call("PATCH", "/api/v2/admin/users/admin", json({ disabled: true }));
  expect([conflict.status, unknown.status, lastAdmin.status]).toEqual([409, 404, 409]);
  expect(await recordsAfter(before)).toEqual([]);
});

test("failed sign-ins are recorded, and a flood of them is bounded", async () => {
  const before = await last();
  const wrong = () =>
    call("POST", "/console/api/session", { ...json({ key: `${secret}-wrong-key-0123456789` }), key: "" });
  for (const { status } of await Promise.all(Array.from({ length: 40 }, wrong))) expect(status).toBe(401);
  const records = await recordsAfter(before);
  expect(records).toHaveLength(20);
  expect(records[0]?.entry).toMatchObject({
    action: "session.refuse",
    actor: { type: "anonymous", id: null },
    after: { by: "key", attempts: 1 },
  });
  expect(JSON.stringify(records)).not.toContain(secret);
});
