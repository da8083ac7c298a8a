import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Access, accessTable } from "../../../src/http/foundation/access-table.ts";
import { type AgentRuns, startAgentRuns } from "../../support/agent-runs.ts";
import type { Answer, CallOptions } from "../../support/gantry.ts";
import { inTurn } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

/** Appears in everything of the owner that no other key may read. */
const marker = "MARKED";
const app = ["gantry/image", "alice/chat"];

let t: AgentRuns;
let whole: { key: string };
/** All ids by their name in the route templates. */
let ids: Record<string, string>;
const keys: Record<Kind, string> = { none: "", stranger: "", confined: "", limited: "", grace: "" };

type Kind = "none" | "stranger" | "confined" | "limited" | "grace";

/** The request for a row, and a stranger's answer if it does not follow from the row. */
interface Sample {
  query?: string;
  options?: CallOptions;
  stranger?: number;
  /** The owner's answer with an unrestricted key, if it is not a success. */
  whole?: number;
  ids?: Record<string, string>;
}

const json = (body: unknown, more: Omit<Sample, "options"> = {}): Sample => ({ options: { json: body }, ...more });
const form = (fields: CallOptions["form"], more: Omit<Sample, "options"> = {}): Sample => ({
  options: { form: fields ?? {} },
  ...more,
});
const ofModel = { stranger: 403 };
const asking = () => ({ ids: { run_id: ids.askingRunId ?? "" } });

/** A request for each row that depends on a key. A row without one fails the first test. */
const samples: Record<string, () => Sample> = {
  "GET /metrics": () => ({}),
  "GET /console/api/session": () => ({ whole: 401, stranger: 401 }),
  // Only a session may.
  "GET /console/api/authorization": () => ({ whole: 403, stranger: 403 }),
  "POST /console/api/authorization": () => json({}, { whole: 403, stranger: 403 }),
  "GET /api/v1": () => ({}),
  "GET /api/v1/openapi.json": () => ({}),
  "GET /api/v1/{owner}/{model}": () => ofModel,
  "PUT /api/v1/{owner}/{model}": () => json(manifest(), ofModel),
  "PATCH /api/v1/{owner}/{model}": () => json({ title: "Other" }, ofModel),
  "DELETE /api/v1/{owner}/{model}": () => ofModel,
  "POST /api/v1/{owner}/{model}/restore": () => ofModel,
  "GET /api/v1/{owner}/{model}/backends": () => ofModel,
  "GET /api/v1/{owner}/{model}/openapi.json": () => ofModel,
  "GET /api/v1/{owner}/{model}/flow": () => ofModel,
  "POST /api/v1/{owner}/{model}/predict": () => form({ prompt: "x" }, ofModel),
  "POST /api/v1/{owner}/{model}/predict/stream/": () => form({ prompt: "x" }, ofModel),
  "POST /api/v1/{owner}/{model}/predict/async/": () => form({ prompt: "x" }, ofModel),
  "GET /api/v1/{owner}/{model}/predict/async/result/": () => ({ query: `?request_id=${ids.predictionId}`, ...ofModel }),
  "POST /api/v1/{owner}/{model}/predict/async/result/": () => ({
    query: `?request_id=${ids.predictionId}`,
    ...ofModel,
  }),
  "POST /api/v1/{owner}/{model}/predict/cancel/": () => ({ query: `?prediction_id=${ids.predictionId}`, ...ofModel }),
  "PATCH /api/v1/{owner}/{model}/predict/cancel/": () => ({ query: `?prediction_id=${ids.predictionId}`, ...ofModel }),
  "GET /api/v1/{owner}/{model}/upload_url": () => ofModel,
  "POST /api/v1/{owner}/{model}/upload_file": () => form({ file: new Blob(["x"]) }, ofModel),
  "GET /api/v1/{owner}/{model}/download_s3_url": () => ({ query: `?s3_path_to_sign=${ids.s3Path}`, ...ofModel }),
  "POST /mcp": () => ({
    options: {
      json: { jsonrpc: "2.0", id: 1, method: "tools/list" },
      headers: { accept: "application/json, text/event-stream" },
    },
  }),
  "GET /api/v2/openapi.json": () => ({}),
  "GET /api/v2/me": () => ({}),
  "GET /api/v2/export": () => ({}),
  "DELETE /api/v2/me": () => json({ username: "another" }, { whole: 422, stranger: 422 }),
  "GET /api/v2/usage": () => ({}),
  "GET /api/v2/predictions": () => ({}),
  "GET /api/v2/predictions/{id}": () => ({ ids: { id: ids.predictionId ?? "" } }),
  "DELETE /api/v2/predictions/{id}": () => ({ ids: { id: ids.predictionId ?? "" } }),
  "GET /{username}/expenses": () => ({ stranger: 403 }),
  "ALL /{username}/expenses/{id}": () => ({ stranger: 405, whole: 405 }),
  "GET /api/v2/{username}/expenses": () => ({ stranger: 403 }),
  "ALL /api/v2/{username}/expenses/{id}": () => ({ stranger: 405, whole: 405 }),
  "GET /api/v2/series": () => ({ query: "?metric=spend" }),
  "GET /api/v2/ledger": () => ({}),
  "GET /api/v2/audit": () => ({}),
  "GET /api/v2/files": () => ({}),
  "DELETE /api/v2/files/{id}": () => ({ ids: { id: ids.fileId ?? "" } }),
  "GET /api/v2/webhooks/deliveries": () => ({}),
  "GET /api/v2/webhooks/deliveries/{id}": () => ({ ids: { id: ids.deliveryId ?? "" } }),
  "POST /api/v2/webhooks/test": () => json({ url: "https://receiver.example/hook" }),
  "POST /api/v2/webhooks/deliveries/{id}/resend": () => ({ ids: { id: ids.deliveryId ?? "" } }),
  "GET /api/v2/webhooks/secret": () => ({}),
  "POST /api/v2/webhooks/secret/rotate": () => ({}),
  "GET /api/v2/notices": () => ({}),
  "DELETE /api/v2/notices/{id}": () => ({ ids: { id: "ntc_01hzzzzzzzzzzzzzzzzzzzzzzz" }, whole: 404 }),
  "GET /api/v2/notices/settings": () => ({}),
  "PUT /api/v2/notices/settings": () => json({ balance_below: null, budget_percent: 90 }),
  "GET /api/v2/keys": () => ({}),
  "POST /api/v2/keys": () => json({ name: "another" }),
  "PATCH /api/v2/keys/{id}": () => json({ name: "same" }, { ids: { id: ids.keyId ?? "" } }),
  "DELETE /api/v2/keys/{id}": () => ({ ids: { id: ids.keyId ?? "" } }),
  "POST /api/v2/keys/{id}/rotate": () => json({}, { ids: { id: ids.keyId ?? "" } }),
  "GET /api/v2/teams": () => ({}),
  "POST /api/v2/teams": () => json({ name: "other-lab" }),
  "GET /api/v2/teams/{team}": () => ({}),
  "DELETE /api/v2/teams/{team}": () => ({}),
  "GET /api/v2/teams/{team}/members": () => ({}),
  "POST /api/v2/teams/{team}/members": () => json({ username: "carol" }),
  "GET /api/v2/teams/{team}/members/{username}": () => ({}),
  "PATCH /api/v2/teams/{team}/members/{username}": () => json({ role: "admin" }),
  "DELETE /api/v2/teams/{team}/members/{username}": () => ({}),
  "GET /api/v2/teams/{team}/usage": () => ({}),
  "GET /api/v2/aliases": () => ({}),
  "PUT /api/v2/aliases/{name}": () => json({ model: "gantry/text" }, { stranger: 201, ids: { name: "fast" } }),
  "DELETE /api/v2/aliases/{name}": () => ({ stranger: 204, ids: { name: "fast" } }),
  "GET /api/v2/providers": () => ({}),
  "GET /api/v2/providers/{name}": () => ({ ids: { name: "lab" } }),
  "PUT /api/v2/providers/{name}": () => json({ type: "ollama" }, { stranger: 201, ids: { name: "lab" } }),
  "DELETE /api/v2/providers/{name}": () => ({ stranger: 204, ids: { name: "lab" } }),
  "POST /api/v2/providers/{name}/test": () => ({ ids: { name: "lab" } }),
  "POST /api/v2/providers/{name}/discover": () => ({ ids: { name: "lab" } }),
  "POST /api/v2/providers/{name}/import": () => ({ ids: { name: "lab" } }),
  "POST /api/v2/sign-in-links": () => json({}),
  "GET /api/v2/sessions": () => ({}),
  "DELETE /api/v2/sessions": () => ({ stranger: 204 }),
  "DELETE /api/v2/sessions/{id}": () => ({ ids: { id: "000000000000" }, whole: 404 }),
  "PUT /api/v2/me/password": () =>
    json({ current_password: "x", new_password: "a walk in the rain" }, { whole: 409, stranger: 409 }),
  "GET /api/v2/secrets": () => ({}),
  "PUT /api/v2/secrets/{name}": () => json({ value: "other" }, { stranger: 201, ids: { name: "crm" } }),
  "DELETE /api/v2/secrets/{name}": () => ({ stranger: 204, ids: { name: "crm" } }),
  "GET /api/v2/admin/users": () => ({}),
  "POST /api/v2/admin/users": () => json({ username: "dave" }),
  "DELETE /api/v2/admin/users/{username}": () => ({ ids: { username: "unknown-user" }, whole: 404 }),
  "GET /api/v2/admin/users/{username}": () => ({}),
  "GET /api/v2/admin/users/{username}/export": () => ({}),
  "GET /api/v2/admin/users/{username}/keys": () => ({}),
  "PATCH /api/v2/admin/users/{username}/keys/{id}": () =>
    json({ name: "same" }, { ids: { id: unknownIds.id ?? "" }, whole: 404 }),
  "DELETE /api/v2/admin/users/{username}/keys/{id}": () => ({ ids: { id: unknownIds.id ?? "" }, whole: 404 }),
  "PATCH /api/v2/admin/users/{username}": () => json({ plan: "pro" }),
  "POST /api/v2/admin/users/{username}/keys": () => json({}),
  "GET /api/v2/admin/users/{username}/sessions": () => ({}),
  "DELETE /api/v2/admin/users/{username}/sessions": () => ({}),
  "DELETE /api/v2/admin/users/{username}/sessions/{id}": () => ({ ids: { id: "000000000000" }, whole: 404 }),
  "POST /api/v2/admin/users/{username}/password-reset": () => ({}),
  "DELETE /api/v2/admin/users/{username}/identity": () => ({ whole: 404 }),
  "POST /api/v2/admin/users/{username}/credits": () => json({ amount: 1, reason: "x" }),
  "GET /api/v2/admin/users/{username}/ledger": () => ({}),
  "GET /api/v2/admin/aliases": () => ({}),
  "PUT /api/v2/admin/aliases/{name}": () => json({ model: "gantry/text" }),
  "DELETE /api/v2/admin/aliases/{name}": () => ({}),
  "GET /api/v2/admin/plans": () => ({}),
  "PUT /api/v2/admin/plans/{name}": () => json({ requests_per_minute: 1, parallel: 1 }),
  "DELETE /api/v2/admin/plans/{name}": () => ({}),
  "GET /api/v2/admin/providers": () => ({}),
  "GET /api/v2/admin/providers/{name}": () => ({ whole: 404, ids: { name: "house" } }),
  "PUT /api/v2/admin/providers/{name}": () => json({ type: "ollama" }, { ids: { name: "house" } }),
  "DELETE /api/v2/admin/providers/{name}": () => ({ ids: { name: "house" } }),
  "POST /api/v2/admin/providers/{name}/test": () => ({ whole: 404, ids: { name: "house" } }),
  "POST /api/v2/admin/providers/{name}/discover": () => ({ whole: 404, ids: { name: "house" } }),
  "POST /api/v2/admin/providers/{name}/import": () => ({ whole: 404, ids: { name: "house" } }),
  "GET /api/v2/admin/secrets": () => ({}),
  "PUT /api/v2/admin/secrets/{name}": () => json({ value: "x" }, { ids: { name: "house" } }),
  "DELETE /api/v2/admin/secrets/{name}": () => ({ ids: { name: "house" } }),
  "GET /api/v2/admin/ledger": () => ({}),
  "GET /api/v2/admin/overview": () => ({}),
  "GET /api/v2/admin/audit": () => ({}),
  "GET /api/v2/admin/take-downs": () => ({}),
  "POST /api/v2/admin/agents/{id}/take-down": () => json({ reason: "x" }, { ids: { id: ids.agent_id ?? "" } }),
  "POST /api/v2/admin/agents/{id}/restore": () => ({ ids: { id: ids.agent_id ?? "" } }),
  "POST /api/v2/admin/models/{owner}/{name}/take-down": () => json({ reason: "x" }, { ids: { name: "chat" } }),
  "POST /api/v2/admin/models/{owner}/{name}/restore": () => ({ ids: { name: "chat" } }),
  "GET /v1/openapi.json": () => ({}),
  "GET /v1/tools": () => ({}),
  "GET /v1/marketplace/agents": () => ({}),
  "GET /v1/agents": () => ({}),
  "GET /v1/agents/{agent_id}": () => ({}),
  "POST /v1/agents": () => json({ name: "A", goal: "x", tools: [], model: "gantry/rules" }),
  "PATCH /v1/agents/{agent_id}": () => json({ goal: "Other." }),
  "DELETE /v1/agents/{agent_id}": () => ({}),
  "POST /v1/agents/{agent_id}/publish": () => json({}),
  "GET /v1/agents/{agent_id}/revisions": () => ({}),
  "GET /v1/agents/{agent_id}/revisions/{revision_id}": () => ({}),
  "GET /v1/agents/{agent_id}/revisions/{revision_id}/diff": () => ({}),
  "GET /v1/agents/{agent_id}/authorizations": () => ({}),
  "POST /v1/agents/{agent_id}/runs": () => json({ input: {} }, { ids: { agent_id: ids.hiddenAgentId ?? "" } }),
  "POST /v1/agents/{creator_username}/{agent_slug}/runs": () =>
    json({ input: {} }, { ids: { creator_username: "alice", agent_slug: "hidden" } }),
  "GET /v1/agents/{agent_id}/runs": () => ({ ids: { agent_id: ids.hiddenAgentId ?? "" } }),
  "POST /v1/agents/{agent_id}/schedules": () =>
    json({ cron: "0 9 * * *", input: {} }, { ids: { agent_id: ids.hiddenAgentId ?? "" } }),
  "GET /v1/agents/{agent_id}/schedules": () => ({ ids: { agent_id: ids.hiddenAgentId ?? "" } }),
  "GET /v1/schedules": () => ({}),
  "GET /v1/schedules/{schedule_id}": () => ({}),
  "PATCH /v1/schedules/{schedule_id}": () => json({ name: "Other" }),
  "DELETE /v1/schedules/{schedule_id}": () => ({}),
  "POST /v1/schedules/{schedule_id}/run": () => ({}),
  "GET /v1/runs": () => ({}),
  "GET /v1/runs/{run_id}": () => ({}),
  "POST /v1/runs/{run_id}/cancel": asking,
  "GET /v1/runs/{run_id}/events": () => ({}),
  "GET /v1/runs/{run_id}/events/list": () => ({}),
  "GET /v1/runs/{run_id}/trace": () => ({}),
  "GET /v1/runs/{run_id}/trace/{step_id}": () => ({ ids: { step_id: `${ids.run_id}-q` } }),
  "GET /v1/threads": () => ({}),
  "GET /v1/threads/{thread_id}": () => ({}),
  "DELETE /v1/threads/{thread_id}": () => ({}),
  "GET /v1/confirmations": () => ({}),
  "GET /v1/runs/{run_id}/confirmations": asking,
  "POST /v1/runs/{run_id}/confirmations/{confirmation_id}": () => json({ approve: true }, asking()),
  "GET /v1/runs/{run_id}/secrets/{secret_id}": () => ({ whole: 404 }),
  "POST /v1/drives": () => json({ name: "Papers" }),
  "GET /v1/drives": () => ({}),
  "GET /v1/drives/{drive_id}": () => ({}),
  "PATCH /v1/drives/{drive_id}": () => json({ description: "Notes" }),
  "DELETE /v1/drives/{drive_id}": () => ({ query: "?force=true" }),
  "GET /v1/drives/{drive_id}/items": () => ({}),
  "POST /v1/drives/{drive_id}/files": () => form({ path: "/new.txt", file: new Blob(["x"]) }),
  "GET /v1/drives/{drive_id}/files/{path}": () => ({}),
  "PUT /v1/drives/{drive_id}/files/{path}": () => form({ file: new Blob(["x"]) }),
  "DELETE /v1/drives/{drive_id}/files/{path}": () => ({}),
  "DELETE /v1/drives/{drive_id}/tree": () => ({ stranger: 400, whole: 400 }),
  "DELETE /v1/drives/{drive_id}/tree/{path}": () => ({}),
  "GET /v1/drives/{drive_id}/index/files": () => ({}),
  "POST /v1/drives/{drive_id}/index/rebuild": () => ({}),
  "GET /v1/drives/{drive_id}/search": () => ({ query: "?q=words" }),
  "POST /v1/agents/{agent_id}/triggers": () => json({}),
  "GET /v1/agents/{agent_id}/triggers": () => ({}),
  "GET /v1/triggers": () => ({}),
  "GET /v1/triggers/{trigger_id}": () => ({}),
  "PATCH /v1/triggers/{trigger_id}": () => json({ name: "Other" }),
  "DELETE /v1/triggers/{trigger_id}": () => ({}),
  "POST /v1/triggers/{trigger_id}/rotate": () => ({}),
  "GET /v1/triggers/{trigger_id}/deliveries": () => ({}),
  "POST /v1/mcp-servers": () =>
    json({ name: "other", url: "http://127.0.0.1:9/mcp", connection_type: "streamable_http" }),
  "GET /v1/mcp-servers": () => ({}),
  "GET /v1/mcp-servers/{mcp_server_id}": () => ({}),
  "PATCH /v1/mcp-servers/{mcp_server_id}": () => json({ name: "renamed" }),
  "DELETE /v1/mcp-servers/{mcp_server_id}": () => ({ query: "?force=true" }),
  "GET /v1/mcp-servers/{mcp_server_id}/tools": () => ({ whole: 502 }),
  // The server has no OAuth.
  "POST /v1/mcp-servers/{mcp_server_id}/authorize": () => ({ whole: 409 }),
  "DELETE /v1/mcp-servers/{mcp_server_id}/authorization": () => ({ whole: 404 }),
  "PUT /v1/connectors/idp": () => json({ domain: "127.0.0.1:9", token: "t" }, { stranger: 400 }),
  "GET /v1/connectors/idp": () => ({ whole: 404, stranger: 404 }),
  "DELETE /v1/connectors/idp": () => ({ whole: 404, stranger: 404 }),
  "GET /v1/connectors/idp/actions": () => ({}),
  "POST /v1/connectors/idp/actions/{name}": () => json({}, { whole: 404, ids: { name: "idp_users_list" } }),
  "POST /v1/chat/completions": () => json(chatBody),
  "POST /v1/messages": () => json({ ...chatBody, max_tokens: 5 }),
  "POST /v1/messages/count_tokens": () => json(chatBody),
  "POST /v1/responses": () => json({ model: "alice/chat", input: "x" }),
  "GET /v1/responses/{response_id}": () => ({}),
  "GET /v1/responses/{response_id}/input_items": () => ({}),
  "DELETE /v1/responses/{response_id}": () => ({}),
  "POST /v1/responses/{response_id}/cancel": () => ({}),
  "POST /v1/files": () => form({ purpose: "batch", file: new Blob(["{}"]) }),
  "GET /v1/files": () => ({}),
  "GET /v1/files/{file_id}": () => ({}),
  "GET /v1/files/{file_id}/content": () => ({}),
  "DELETE /v1/files/{file_id}": () => ({}),
  "POST /v1/batches": () =>
    json({ input_file_id: ids.file_id, endpoint: "/v1/chat/completions", completion_window: "24h" }),
  "GET /v1/batches": () => ({}),
  "GET /v1/batches/{batch_id}": () => ({}),
  "POST /v1/batches/{batch_id}/cancel": () => ({}),
  "POST /v1/embeddings": () => json({ model: "alice/chat", input: "x" }),
  "POST /v1/images/generations": () => json({ model: "alice/chat", prompt: "x" }),
  "POST /v1/images/edits": () => form({ model: "alice/chat", prompt: "x" }),
  "GET /v1/models": () => ({}),
  "GET /v1/models/{path}": () => ({ ids: { path: "alice/chat" } }),
  "GET /v1/doors/openapi.json": () => ({}),
};

const chatBody = { model: "alice/chat", messages: [{ role: "user", content: "x" }] };

const manifest = () => ({
  title: "Chat",
  kind: "text",
  visibility: "private",
  capacity: 50,
  context_window: 8000,
  pricing: { per_million_input_tokens: 1, per_million_output_tokens: 10 },
  input: { type: "object", properties: { prompt: { type: "string" } }, required: ["prompt"] },
  output: { type: "object", properties: { output: { type: "string", isStream: true } } },
  backend: { type: "openai-chat", url: t.llm.url, model: `${marker}-backend`, secret: "crm" },
});

async function made(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
  const answer = await t.gantry.call(method, path, { ...whole, ...options });
  expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300);
  return answer;
}

beforeAll(async () => {
  t = await startAgentRuns();
  const { gantry } = t;
  await gantry.call("POST", "/api/v2/admin/users", { json: { username: "alice", role: "admin", plan: "unlimited" } });
  await gantry.call("POST", "/api/v2/admin/users/alice/credits", { json: { amount: 10, reason: `${marker}-gift` } });
  whole = { key: (await gantry.call("POST", "/api/v2/admin/users/alice/keys", { json: {} })).body.key };
  keys.stranger = await gantry.newUser("bob");
  await gantry.newUser("carol");

  await made("PUT", "/api/v2/secrets/crm", { json: { value: `${marker}-secret` } });
  await made("PUT", "/api/v1/alice/chat", { json: manifest() });
  // The confined key may not call gantry/text, so it must not see the alias.
  for (const [name, model] of [["fast", "alice/chat"] as const, [`${marker}-alias`, "gantry/text"] as const]) {
    await made("PUT", `/api/v2/aliases/${name}`, { json: { model } });
  }
  await made("PUT", "/api/v2/admin/aliases/gold", { json: { model: "alice/chat" } });
  await made("POST", "/api/v2/teams", { json: { name: "alice-lab" } });
  await made("PUT", "/api/v2/admin/plans/gold", { json: { requests_per_minute: 10, parallel: 2 } });
  const note = { "x-note": `${marker}-header` };
  await made("PUT", "/api/v2/providers/lab", { json: { type: "ollama", url: "http://127.0.0.1:9", headers: note } });
  const drive = (await made("POST", "/v1/drives", { json: { name: `${marker}-drive`, index: {} } })).body;
  await made("POST", `/v1/drives/${drive.id}/files`, {
    form: { path: "/a/b.txt", file: new Blob([`${marker}-file`], { type: "text/plain" }) },
  });
  const server = await made("POST", "/v1/mcp-servers", {
    json: { name: `${marker}-server`, url: "http://127.0.0.1:9/mcp", connection_type: "streamable_http" },
  });
  const fixed = { headers: { authorization: `Bearer ${marker}-password` }, url: "http://127.0.0.1:9/" };
  const agentFields = {
    goal: `${marker}-goal {{thing}}`,
    instructions: { tool_calling: `${marker}-instructions` },
    tools: [
      { type: "tool", id: "run_javascript", confirm: "always" },
      { type: "tool", id: "http_request", arguments: fixed },
      "drive_read",
    ],
    drives: [drive.id],
    model: "alice/chat",
  };
  const agentId = await t.makeAgent(agentFields, whole);
  const trigger = await made("POST", `/v1/agents/${agentId}/triggers`, { json: { name: `${marker}-trigger` } });
  const hiddenAgentId = await t.makeAgent({ name: "Hidden", goal: `${marker}-goal`, model: "admin/llm" }, whole);

  t.llm.script = inTurn({ text: `${marker}-answer` });
  const ended = await t.run(agentId, { input: { thing: `${marker}-input` }, thread_id: "talk" }, whole);
  expect(ended.body, ended.text).toMatchObject({ status: "done" });
  t.llm.script = inTurn({ calls: [{ name: "run_javascript", args: { code: `"${marker}-code"` } }] }, { text: "done" });
  const { runId: askingRunId, asked } = await t.runUntilAsked(agentId, { input: { thing: `${marker}-input` } }, whole);

  const schedule = await made("POST", `/v1/agents/${hiddenAgentId}/schedules`, {
    json: { name: `${marker}-schedule`, cron: "0 0 1 1 *", input: { thing: `${marker}-input` } },
  });

  t.llm.script = () => ({ text: `${marker}-output` });
  const webhook = JSON.stringify({ url: `http://127.0.0.1:9/${marker}-hook` });
  const prediction = (
    await made("POST", "/api/v1/alice/chat/predict/async/", { form: { prompt: `${marker}-prompt`, webhook } })
  ).body.prediction_id;
  await made("GET", `/api/v1/alice/chat/predict/async/result/?request_id=${prediction}&wait=30`);
  const stored = await made("POST", "/v1/responses", { json: { model: "alice/chat", input: `${marker}-question` } });
  const deliveries = async () => (await made("GET", "/api/v2/webhooks/deliveries")).body.results;
  await waitFor("the delivery to fail", async () => (await deliveries())[0]?.attempts > 0);
  const uploaded = await made("POST", "/api/v1/gantry/image/upload_file", {
    form: { file: new File(["content"], `${marker}-upload.txt`) },
  });

  const lines = new File([`{"note": "${marker}-line"}`], `${marker}-lines.jsonl`);
  const batchFile = (await made("POST", "/v1/files", { form: { purpose: "batch", file: lines } })).body;
  const batch = (
    await made("POST", "/v1/batches", {
      json: {
        input_file_id: batchFile.id,
        endpoint: "/v1/chat/completions",
        completion_window: "24h",
        metadata: { note: `${marker}-note` },
      },
    })
  ).body;

  const key = (await made("POST", "/api/v2/keys", { json: { name: `${marker}-key` } })).body;
  keys.confined = (await made("POST", "/api/v2/keys", { json: { models: app } })).body.key;
  keys.limited = (await made("POST", "/api/v2/keys", { json: { monthly_limit: 5 } })).body.key;
  const rotated = (await made("POST", "/api/v2/keys", { json: { name: "rotated" } })).body;
  await made("POST", `/api/v2/keys/${rotated.id}/rotate`, { json: { grace_seconds: 3600 } });
  keys.grace = rotated.key;

  ids = {
    owner: "alice",
    model: "chat",
    username: "alice",
    team: "alice-lab",
    name: "gold",
    agent_id: agentId,
    hiddenAgentId,
    revision_id: ended.body.revision_id,
    run_id: ended.body.id,
    thread_id: "talk",
    askingRunId,
    confirmation_id: asked.id,
    schedule_id: schedule.body.id,
    secret_id: "sec_01hzzzzzzzzzzzzzzzzzzzzzzz",
    drive_id: drive.id,
    path: "a/b.txt",
    response_id: stored.body.id,
    file_id: batchFile.id,
    batch_id: batch.id,
    mcp_server_id: server.body.id,
    trigger_id: trigger.body.id,
    predictionId: prediction,
    deliveryId: (await deliveries())[0].id,
    s3Path: uploaded.body.file_input.s3_path,
    fileId: (await made("GET", "/api/v2/files")).body.results[0].id,
    keyId: key.id,
    id: "exp_1",
  };
}, 90_000);
afterAll(() => t.close());

const unknownIds: Record<string, string> = {
  model: "none",
  creator_username: "unknown",
  agent_id: "agt_01hzzzzzzzzzzzzzzzzzzzzzzz",
  run_id: "run_01hzzzzzzzzzzzzzzzzzzzzzzz",
  schedule_id: "sch_01hzzzzzzzzzzzzzzzzzzzzzzz",
  thread_id: "none",
  response_id: "resp_01hzzzzzzzzzzzzzzzzzzzzzzz",
  file_id: "file_01hzzzzzzzzzzzzzzzzzzzzzzz",
  batch_id: "batch_01hzzzzzzzzzzzzzzzzzzzzzzz",
  drive_id: "drv_01hzzzzzzzzzzzzzzzzzzzzzzz",
  mcp_server_id: "mcp_01hzzzzzzzzzzzzzzzzzzzzzzz",
  trigger_id: "trg_01hzzzzzzzzzzzzzzzzzzzzzzz",
  id: "key_01hzzzzzzzzzzzzzzzzzzzzzzz",
  name: "none",
  team: "none",
  username: "unknown",
};

function send(row: string, kind: Kind | "whole", known: "real" | "unknown" = "real"): Promise<Answer> {
  const [method = "", template = ""] = row.split(" ");
  const sample = samples[row]?.() ?? {};
  const values = { ...ids, ...sample.ids, ...(known === "unknown" && unknownIds) };
  const path = template.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
  const key = kind === "whole" ? whole.key : keys[kind];
  return t.gantry.call(method === "ALL" ? "GET" : method, path + (sample.query ?? ""), { ...sample.options, key });
}

const rows = Object.entries(accessTable).filter(([, { by }]) => by !== "anyone");
const named = rows.filter(([row]) => row.includes("{"));
const isSafe = (row: string) => row.startsWith("GET ") || row.startsWith("ALL ");
const messageOf = ({ body, text }: Answer) => body?.detail ?? body?.error?.message ?? text;

test("every route has a row, every row a route, and every row with a key a request", () => {
  expect([...t.gantry.gantry.accessRows].toSorted()).toEqual(Object.keys(accessTable).toSorted());
  expect(Object.keys(samples).toSorted()).toEqual(rows.map(([row]) => row).toSorted());
});

test.each(Object.entries(accessTable).filter(([row, { by }]) => by === "anyone" && row.startsWith("GET ")))(
  "%s needs no key",
  async (row) => {
    const path = row.slice("GET ".length).replace("*", "none");
    expect((await t.gantry.call("GET", path, { key: "" })).status).not.toBe(401);
  },
);

test.each(rows)("%s: 401 without a key", async (row) => {
  const answer = await send(row, "none");
  expect([answer.status, answer.text.includes(marker)], answer.text).toEqual([401, false]);
});

/** Answers for an unrestricted key, where reading them changes nothing. */
test.each(rows.filter(([row]) => isSafe(row)))("%s: the owner's unrestricted key is accepted", async (row) => {
  const answer = await send(row, "whole");
  const expected = samples[row]?.().whole;
  if (expected === undefined) expect(answer.status, answer.text).toBeLessThan(300);
  else expect(answer.status, answer.text).toBe(expected);
});

const ownedByStranger = rows.filter(
  ([row, { by }]) => by !== "key" || named.some(([one]) => one === row) || isSafe(row),
);
test.each(ownedByStranger)("%s: another user sees nothing of the owner", async (row, { by }) => {
  const answer = await send(row, "stranger");
  const ofIds = named.some(([one]) => one === row) ? 404 : 200;
  const expected = by !== "key" ? 403 : (samples[row]?.().stranger ?? ofIds);
  expect([answer.status, answer.text.includes(marker)], answer.text).toEqual([expected, false]);
});

describe("a confined key, on resources of another key", () => {
  test("lists contain only the key itself", async () => {
    const get = async (path: string) => (await t.gantry.call("GET", path, { key: keys.confined })).body;
    expect(await get("/api/v2/usage")).toMatchObject({ results: [], total_count: 0 });
    expect(await get("/alice/expenses")).toMatchObject({ results: [] });
    expect(await get("/api/v2/files")).toMatchObject({ results: [], total_count: 0 });
    expect(await get("/api/v2/webhooks/deliveries")).toMatchObject({ results: [], total_count: 0 });
    expect(await get("/v1/runs")).toMatchObject({ runs: [], total: 0 });
    expect(await get("/v1/schedules")).toMatchObject({ schedules: [], total: 0 });
    expect(await get("/v1/threads")).toMatchObject({ threads: [], total: 0 });
    expect(await get("/v1/files")).toMatchObject({ data: [], has_more: false });
    expect(await get("/v1/batches")).toMatchObject({ data: [], has_more: false });
    expect((await get("/api/v2/keys")).results).toMatchObject([{ models: app }]);
    expect((await get("/v1/agents")).agents).toMatchObject([{ id: ids.agent_id, visibility: "private" }]);
  });

  test.each(rows)("%s", async (row, { confined }: Access) => {
    if (confined === "allow" && !isSafe(row) && row !== "POST /mcp") return;
    const answer = await send(row, "confined");
    expect(answer.text).not.toContain(marker);
    if (confined === "refuse") {
      expect(answer.status, answer.text).toBe(403);
      if (accessTable[row]?.by === "key") expect(messageOf(answer)).toContain("limited to some models and cannot ");
    } else if (
      confined === "own" &&
      !row.includes("{username}") &&
      (named.some(([one]) => one === row) || !isSafe(row))
    ) {
      expect(answer.status, answer.text).toBe(404);
      // Indistinguishable from a missing resource.
      if (/\/v1\/(runs|schedules)\/|\/api\/v2\//.test(row)) {
        const unknown = await send(row, "confined", "unknown");
        expect([unknown.status, messageOf(unknown)]).toEqual([answer.status, messageOf(answer)]);
      }
    } else if (confined === "card" && row.includes("/runs")) {
      expect([answer.status, messageOf(answer)], answer.text).toEqual([404, "Agent not found"]);
    } else {
      const expected = samples[row]?.().whole ?? 200;
      expect(answer.status, answer.text).toBe(expected);
    }
  });
});

describe.each(["grace", "limited"] as const)("a key: %s", (kind) => {
  test.each(rows)("%s", async (row, access) => {
    if (access[kind] === "refuse") {
      const answer = await send(row, kind);
      expect([answer.status, answer.text.includes(marker)], answer.text).toEqual([403, false]);
      const why = kind === "grace" ? "This secret was replaced by a rotation" : "This key has a limit";
      expect(messageOf(answer)).toContain(why);
    } else if (isSafe(row)) {
      expect((await send(row, kind)).status).toBe((await send(row, "whole")).status);
    } else if (named.some(([one]) => one === row)) {
      // The key is accepted; the resource does not exist.
      expect([401, 403]).not.toContain((await send(row, kind, "unknown")).status);
    }
  });
});

test("the documents tell of 403 where a kind of key is refused", async () => {
  const blank = (path: string) => path.replace(/\{\w+\}/g, "{}");
  const told = new Map<string, object>();
  for (const base of ["/v1", "/api/v1", "/api/v2"]) {
    const { paths } = (await made("GET", `${base}/openapi.json`)).body;
    for (const [path, operations] of Object.entries<Record<string, { responses: object }>>(paths)) {
      for (const [method, { responses }] of Object.entries(operations)) {
        told.set(`${method.toUpperCase()} ${blank(base + path)}`, responses);
      }
    }
  }
  const isRefused = ({ confined, grace, limited }: Access) => [confined, grace, limited].includes("refuse");
  const refusing = rows.filter(([row, access]) => isRefused(access) && told.has(blank(row)));
  expect(refusing.length).toBeGreaterThan(50);
  expect(refusing.filter(([row]) => !Object.hasOwn(told.get(blank(row)) ?? {}, "403")).map(([row]) => row)).toEqual([]);
});

test("none of these requests changed the owner's data", async () => {
  expect((await made("GET", `/v1/runs/${ids.askingRunId}`)).body.phase).toBe("awaiting_confirmation");
  expect(await t.confirmations(ids.askingRunId ?? "", whole)).toMatchObject([{ status: "pending" }]);
  expect((await made("GET", "/v1/threads/talk")).body).toMatchObject({ runs: 1, title: `${marker}-input` });
  expect((await made("GET", `/v1/agents/${ids.agent_id}`)).body.goal).toContain(marker);
  expect((await made("GET", `/v1/drives/${ids.drive_id}/files/a/b.txt`)).text).toBe(`${marker}-file`);
  expect((await made("GET", "/api/v1/alice/chat")).body).toMatchObject({ title: "Chat", backend: { secret: "crm" } });
  expect((await made("GET", "/api/v2/secrets")).body.results).toMatchObject([{ name: "crm" }]);
  expect((await made("GET", "/api/v2/providers/lab")).body.headers).toEqual({ "x-note": `${marker}-header` });
  for (const path of ["/api/v2/aliases", "/api/v2/admin/aliases"]) {
    const { results } = (await made("GET", path)).body;
    const models = results.map(({ model }: Answer["body"]) => model);
    expect(models.toSorted()).toEqual(path.includes("admin") ? ["alice/chat"] : ["alice/chat", "gantry/text"]);
  }
  expect((await made("GET", `/v1/schedules/${ids.schedule_id}`)).body).toMatchObject({ name: `${marker}-schedule` });
  expect((await made("GET", `/v1/responses/${ids.response_id}`)).text).toContain(marker);
  const listed = (await made("GET", "/api/v2/keys")).body.results.map(({ id }: Answer["body"]) => id);
  expect(listed).toContain(ids.keyId);
  expect(listed).toHaveLength(5);
  expect((await made("GET", `/api/v1/gantry/image/download_s3_url?s3_path_to_sign=${ids.s3Path}`)).status).toBe(200);
  expect((await made("GET", "/api/v2/webhooks/secret")).body.secrets).toHaveLength(1);
  expect((await made("GET", "/api/v2/admin/plans")).body.results.map(({ name }: Answer["body"]) => name)).toContain(
    "gold",
  );
});
