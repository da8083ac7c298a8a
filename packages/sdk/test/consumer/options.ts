import {
  type AgentVisibility,
  type AgentWarning,
  type ConfirmPolicy,
  type CreateAgentBody,
  createClient,
  type ErrorType,
  type Input,
  type ToolServerStatus,
} from "@gantry/sdk";

/**
 * A program that is written with `exactOptionalPropertyTypes`, in which an option that may be undefined is passed on as it
 * is. It is compiled by `npm run check`, with the library of this project and with the default one, which has the DOM; it is
 * never run.
 */
export async function passedOn(maybe: { text?: string; number?: number; flag?: boolean; date?: Date }) {
  const { text, number, flag, date } = maybe;
  const client = createClient({ url: text, key: text, retries: number, fetch: undefined });
  const signal: AbortSignal | undefined = undefined;
  const input: Input = {
    prompt: text,
    size: number,
    options: { deep: [text, { flag }] },
    image: new Blob([]),
    when: date,
  };
  const webhook = { url: "http://hook.test", headers: undefined, query_params: undefined };
  const user = { id: 1, high_priority: flag };

  await client.predict("a/b", input, { idempotencyKey: text, signal });
  await client.submit("a/b", input, { idempotencyKey: text, signal, webhook, user });
  await client.submit("a/b", input, { webhook: undefined, user: undefined });
  client.stream("a/b", input, { user: undefined, signal });
  await client.result("a/b", "pred_1", { wait: number });
  await client.files.upload("a/b", new Uint8Array(), { filename: text, direct: flag });
  await client.files.uploadLink("a/b", { filename: text, content_type: text });
  await client.files.download("http://file.test", { headers: undefined });
  await client.files.list({ page: number, page_size: number });
  await client.models.list({ kind: undefined, q: text });
  await client.models.put("a/b", { title: text, kind: "other", backend: { type: "cog" }, capacity: number });
  await client.models.put("a/b", { kind: "other", backend: { type: "cog" } });
  await client.models.update("a/b", { title: text, capacity: number });
  await client.account.usage({ from_date: date, to_date: date });
  await client.account.ledger({ from_date: date, to_date: date, page: number });
  await client.admin.users.ledger("ann", { from_date: date, to_date: date, page_size: number });
  await client.account.expenses({ username: text, start_date: date, end_date: date, page: number });
  await client.account.keys.rotate("key_1", { grace_seconds: number });
  await client.agents.list({ visibility: undefined, limit: number, offset: number });
  await client.agents.publish("agt_1", { revision_id: text });
  await client.agents.revisions.diff("agt_1", "rev_1", { against: text });
  await client.agents.create({ name: "A", goal: "Do it.", tools: [], model: text });
  await client.runs.create("agt_1", { input: {}, wait: number }, { idempotencyKey: text });
  await client.runs.list({ agent_id: text, status: undefined });
  await client.runs.list({ parent_run_id: text });
  // @ts-expect-error The service has no list by both.
  await client.runs.list({ agent_id: "agt_1", parent_run_id: "run_1" });
  await client.schedules.create("agt_1", { cron: "@daily", input: {}, timezone: text, enabled: flag });
  await client.schedules.list({ agent_id: text, limit: number });
  await client.schedules.update("sch_1", { enabled: flag, max_cost: null });
  await client.schedules.run("sch_1", { idempotencyKey: text, signal });
  await client.runs.listEvents("run_1", { after: number });
  client.runs.events("run_1", { after: number, tries: number });
  await client.runs.confirmations.approve("run_1", "cnf_1", { reason: text });
  await client.marketplace.list({ q: text });
  await client.drives.items("drv_1", { path: text });
  client.drives.eachItem("drv_1", { path: text, recursive: flag });
  await client.drives.delete("drv_1", { force: flag });
  await client.drives.files.replace("drv_1", "/f", "x", { type: text, ifMatch: text, ifNoneMatch: text });
  await client.drives.files.download("drv_1", "/f", { range: text, ifRange: text });
  await client.toolServers.delete("mcp_1", { force: flag });
  await client.idp.run("idp_user_get", {}, { confirm: flag });
  await client.webhooks.deliveries({ prediction_id: text, status: undefined });
  await client.admin.users.credit("ann", { amount: 1, reason: "x" }, { idempotencyKey: text });
}

/** What a program names that keeps parts of a record in variables of its own. */
export interface Named {
  visibility: AgentVisibility;
  warning: AgentWarning;
  policy: ConfirmPolicy;
  agent: CreateAgentBody;
  failure: ErrorType;
  server: ToolServerStatus;
}

// @ts-expect-error A promise or a stream is not a value of a field.
export const promised: Input = { text: Promise.resolve("x") };
// @ts-expect-error JSON makes nothing of it.
export const mapped: Input = { options: new Map([["a", 1]]) };
