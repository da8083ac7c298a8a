import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { verifyLedger } from "../../../src/features/billing/index.ts";
import { openaiClient } from "../../support/agent-chats.ts";
import { chatLine, createBatch } from "../../support/batch-lines.ts";
import { type CallOptions, type GantryNode, startGantry } from "../../support/gantry.ts";
import { agentModel, cogModel, createModels } from "../../support/models.ts";
import { gate } from "../../support/runs-platform.ts";
import { type ScriptedLlm, startScriptedLlm } from "../../support/scripted-llm.ts";
import { type SlowCog, startSlowCog } from "../../support/slow-cog.ts";
import { waitFor } from "../../support/wait-for.ts";

/** In everything that the person stores. */
const mark = "plumtree";
const name = "olga-quince";
let gantry: GantryNode;
let llm: ScriptedLlm;
let cog: SlowCog;
let olga: string;
let bob: string;

beforeAll(async () => {
  [gantry, llm, cog] = await Promise.all([startGantry(), startScriptedLlm(), startSlowCog()]);
  await createModels(gantry, { llm: agentModel(llm.url), slow: cogModel(cog.url, { capacity: 1 }) });
  olga = await gantry.newUser(name, { credit: 5 });
  bob = await gantry.newUser("bob", { credit: 5 });
}, 60_000);
afterAll(async () => {
  await gantry.close();
  await Promise.all([llm.close(), cog.close()]);
});
afterEach(async () => {
  expect(await verifyLedger(gantry.database)).toEqual([]);
});

async function ok(method: string, path: string, options: CallOptions = {}) {
  const answer = await gantry.call(method, path, options);
  expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300);
  return answer.body;
}

const isGone = async (username: string) => (await gantry.call("GET", `/api/v2/admin/users/${username}`)).status === 404;

/** Rows of all tables that contain one of the texts, by table. */
async function rowsWith(texts: readonly string[]) {
  const { sql } = gantry.database;
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class
    where relkind in ('r', 'p') and not relispartition and relnamespace = current_schema()::regnamespace`;
  const found: { table: string; row: Record<string, unknown> }[] = [];
  for (const { name: table } of tables) {
    const rows = await sql<{ row: Record<string, unknown> }[]>`
      select to_jsonb(t) as row from ${sql(table)} t
      where t::text ilike any (${texts.map((text) => `%${text}%`)}::text[])`;
    found.push(...rows.map(({ row }) => ({ table, row })));
  }
  return found;
}

async function filesWith(text: string): Promise<string[]> {
  const all = await readdir(gantry.home, { recursive: true, withFileTypes: true });
  const paths = all.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const found = await Promise.all(paths.map(async (path) => (path + (await readFile(path, "latin1"))).includes(text)));
  return paths.filter((_, n) => found[n]);
}

async function makeAgent(key: string, fields: object): Promise<string> {
  const json = { goal: `Find ${mark}.`, tools: [], model: "admin/llm", ...fields };
  const { id } = await ok("POST", "/v1/agents", { key, json });
  await ok("POST", `/v1/agents/${id}/publish`, { key, json: {} });
  return id;
}

/** Something in every area. */
async function useEverything(): Promise<{ agentId: string; keys: string[]; link: string; cookie: string }> {
  const key = olga;
  await createModels(
    gantry,
    { [mark]: agentModel(llm.url, { title: mark }), secret: agentModel(llm.url, { visibility: "private" }) },
    { name, key },
  );
  await ok("PUT", `/api/v2/secrets/${mark}`, { key, json: { value: mark } });
  await ok("PUT", `/api/v2/providers/${mark}`, { key, json: { type: "ollama", url: "http://127.0.0.1:9" } });
  await ok("PUT", `/api/v2/aliases/${mark}`, { key, json: { model: `${name}/${mark}` } });
  const server = { name: mark, url: `http://127.0.0.1:9/${mark}`, connection_type: "streamable_http" };
  await ok("POST", "/v1/mcp-servers", { key, json: server });
  const drive = await ok("POST", "/v1/drives", { key, json: { name: mark } });
  const form = { path: `/${mark}.txt`, file: new File([`a ${mark} in a drive`], `${mark}.txt`) };
  await ok("POST", `/v1/drives/${drive.id}/files`, { key, form });
  await ok("POST", "/api/v1/gantry/text/upload_file", { key, form: { file: new File([mark], `${mark}.txt`) } });
  await ok("GET", "/api/v1/gantry/text/upload_url", { key });
  await ok("POST", "/api/v1/gantry/text/predict", {
    key,
    form: { prompt: mark },
    headers: { "idempotency-key": mark },
  });
  await ok("POST", "/api/v1/gantry/image/predict", { key, form: { prompt: mark } });
  const webhook = JSON.stringify({ url: `http://127.0.0.1:9/${mark}` });
  await ok("POST", "/api/v1/gantry/text/predict/async", { key, form: { prompt: mark, webhook } });
  await ok("POST", "/v1/responses", { key, json: { model: `${name}/${mark}`, input: mark, store: true } });
  await ok("POST", "/api/v2/webhooks/test", { key, json: { url: `http://127.0.0.1:9/${mark}` } });

  const agentId = await makeAgent(key, { name: mark, model: `${name}/secret`, visibility: "public" });
  const run = { input: { thing: mark }, wait: 20 };
  await ok("POST", `/v1/agents/${agentId}/runs`, { key, json: { ...run, thread_id: mark } });
  await ok("POST", `/v1/agents/${agentId}/runs`, { key, json: run });
  await ok("POST", `/v1/agents/${agentId}/schedules`, { key, json: { cron: "0 0 1 1 *", input: {}, name: mark } });
  await ok("POST", `/v1/agents/${agentId}/triggers`, { key, json: { name: mark } });

  const more = await ok("POST", "/api/v2/keys", { key, json: { name: mark, models: [`${name}/${mark}`] } });
  await ok("POST", "/api/v2/teams", { json: { name: "lab", owner: "bob" } });
  await ok("POST", "/api/v2/teams/lab/members", { json: { username: name, role: "admin" } });
  const ofTeam = await ok("POST", "/api/v2/keys", { key, json: { name: "ci" }, headers: { "x-gantry-team": "lab" } });
  const session = await gantry.call("POST", "/console/api/session", { key: "", json: { key } });
  const cookie = session.headers.get("set-cookie")?.split(";")[0] ?? "";
  const { url } = await ok("POST", "/api/v2/sign-in-links", { json: { username: name } });
  return { agentId, keys: [more.key, ofTeam.key], link: url.split("#")[1], cookie };
}

test("a deleted account leaves the books and nothing else; others keep what they did with it", async () => {
  const { agentId, keys, link, cookie } = await useEverything();
  const own = { key: olga };
  // Bob has a result, a schedule and a run under way that uses a private model of the account.
  const done = await ok("POST", `/v1/agents/${agentId}/runs`, { key: bob, json: { input: {}, wait: 20 } });
  expect(done.output, JSON.stringify(done)).toBeTruthy();
  const asked = await ok("POST", `/api/v1/${name}/${mark}/predict/async`, { key: bob, form: { prompt: "bob" } });
  const theirs = { key: bob, json: { cron: "0 0 1 1 *", input: {} } };
  const schedule = await ok("POST", `/v1/agents/${agentId}/schedules`, theirs);
  const answer = gate();
  llm.script = async () => {
    await answer.promise;
    return { text: "late" };
  };
  const late = await ok("POST", `/v1/agents/${agentId}/runs`, { key: bob, json: { input: {}, wait: 0 } });
  await waitFor("bob's call", () => llm.requests.some(({ messages }) => JSON.stringify(messages).includes(mark)));
  // Running and queued predictions, a run and a batch of the account.
  const slow = { ...own, form: { prompt: mark } };
  const running = await ok("POST", "/api/v1/admin/slow/predict/async", slow);
  const queued = await ok("POST", "/api/v1/admin/slow/predict/async", slow);
  await ok("POST", `/v1/agents/${agentId}/runs`, { ...own, json: { input: { thing: mark }, wait: 0 } });
  await createBatch(openaiClient(gantry, olga), [chatLine(`${name}/${mark}`, mark)]);
  await waitFor("the running one", () => cog.open === 1);

  const refused = await gantry.call("DELETE", "/api/v2/me", { ...own, json: { username: "olga" } });
  expect([refused.status, refused.body.detail[0].loc]).toEqual([422, ["body", "username"]]);
  const { body: deleting, status } = await gantry.call("DELETE", "/api/v2/me", { ...own, json: { username: name } });
  expect([status, deleting]).toEqual([202, { username: name, status: "deleting", requested_at: expect.any(String) }]);

  // Access ends at once; the admin sees the deletion, and cannot undo it.
  for (const key of [olga, ...keys]) expect((await gantry.call("GET", "/api/v2/me", { key })).status).toBe(401);
  const visitor = { key: "", headers: { cookie, "x-gantry-console": "1" } };
  expect((await gantry.call("GET", "/console/api/session", visitor)).status).toBe(401);
  expect((await gantry.call("POST", "/console/api/session", { key: "", json: { token: link } })).status).toBe(401);
  const seen = await ok("GET", `/api/v2/admin/users/${name}`);
  expect(seen).toMatchObject({ disabled: true, deletion_requested_at: deleting.requested_at });
  const enabled = await gantry.call("PATCH", `/api/v2/admin/users/${name}`, { json: { disabled: false } });
  expect(enabled.status).toBe(409);
  expect(await ok("DELETE", `/api/v2/admin/users/${name}`)).toEqual(deleting);
  const usernames = (await ok("GET", "/api/v2/teams/lab/members")).results.map(
    (one: { username: string }) => one.username,
  );
  expect(usernames).toEqual(["bob"]);

  // The account waits for bob's run, which ends as it would have.
  await waitFor("the own work to end", async () => {
    const { sql } = gantry.database;
    const live =
      await sql`select from live_predictions where id in (${running.prediction_id}, ${queued.prediction_id})`;
    return live.length === 0;
  });
  expect(await isGone(name)).toBe(false);
  answer.open();
  const ended = await ok("GET", `/v1/runs/${late.id}?wait=20`, { key: bob });
  expect([ended.status, JSON.stringify(ended.output)], JSON.stringify(ended)).toEqual([
    "done",
    expect.stringContaining("late"),
  ]);
  await waitFor("the deletion", () => isGone(name));

  const { sql } = gantry.database;
  const [bobRow] = await sql<{ id: string }[]>`select id from users where username = 'bob'`;
  const left = await rowsWith([name, mark]);
  const isBobs = ({ row }: (typeof left)[number]) => row.user_id === bobRow?.id;
  const ofRuns = (await sql<{ id: string }[]>`select id from runs where user_id = ${String(bobRow?.id)}`).map(
    ({ id }) => id,
  );
  const isOfBobsRun = ({ row }: (typeof left)[number]) => ofRuns.includes(String(row.run_id));
  const unexpected = left.filter((one) => one.table !== "audit_records" && !isBobs(one) && !isOfBobsRun(one));
  expect(unexpected).toEqual([]);
  expect(await filesWith(mark)).toEqual([]);

  // Bob's results, and his schedule that cannot run any more.
  expect((await ok("GET", `/v1/runs/${done.id}`, { key: bob })).output).toEqual(done.output);
  const result = `/api/v1/${name}/${mark}/predict/async/result?request_id=${asked.prediction_id}&wait=20`;
  expect((await ok("GET", result, { key: bob })).inference_responses[0].infer_details.status).toBe(200);
  await ok("GET", `/v1/runs/${late.id}/trace`, { key: bob });
  await ok("GET", `/v1/schedules/${schedule.id}`, { key: bob });
  await ok("GET", "/v1/runs", { key: bob });

  // The wallet is closed, and the name is not free.
  const [wallet] = await sql`
    select u.username, u.role, w.balance_micros as balance, w.reserved_micros as reserved
    from users u join wallets w on w.user_id = u.id where u.username like 'deleted\\_%'`;
  expect(wallet).toEqual({
    username: expect.stringMatching(/^deleted_\w{16}$/),
    role: "system",
    balance: 0,
    reserved: 0,
  });
  const corrections = await sql`select reason, amount_micros as amount from ledger where reason = 'Account deleted'`;
  expect(corrections).toHaveLength(1);
  const again = await gantry.call("POST", "/api/v2/admin/users", { json: { username: name } });
  expect([again.status, again.body.detail]).toEqual([409, "This username is taken"]);
  expect((await gantry.call("POST", "/api/v2/teams", { json: { name, owner: "bob" } })).status).toBe(409);
  expect(
    (await ok("GET", "/api/v2/admin/users")).results.map((one: { username: string }) => one.username),
  ).not.toContain(wallet?.username);
  expect(
    (await gantry.call("PATCH", `/api/v2/admin/users/${wallet?.username}`, { json: { disabled: false } })).status,
  ).toBe(404);
}, 120_000);

test("keys with limits, teams and people who are needed cannot delete the account", async () => {
  const eva = await gantry.newUser("eva");
  const json = { username: "eva" };
  const confined = await ok("POST", "/api/v2/keys", { key: eva, json: { models: ["gantry/text"] } });
  const limited = await ok("POST", "/api/v2/keys", { key: eva, json: { monthly_limit: 3 } });
  await ok("POST", "/api/v2/teams", { json: { name: "crew", owner: "eva" } });
  const ofTeam = await ok("POST", "/api/v2/keys", { key: eva, json: {}, headers: { "x-gantry-team": "crew" } });
  const expires_at = new Date(Date.now() + 3_600_000).toISOString();
  const brief = await ok("POST", "/api/v2/keys", { key: eva, json: { expires_at } });
  for (const { key } of [confined, limited, ofTeam, brief]) {
    expect((await gantry.call("DELETE", "/api/v2/me", { key, json })).status).toBe(403);
  }
  const lastOwner = await gantry.call("DELETE", "/api/v2/me", { key: eva, json });
  expect(lastOwner.status).toBe(409);
  expect(lastOwner.body.detail).toContain("last active owner of the team crew. Make another member an owner");
  expect((await gantry.call("GET", "/api/v2/me", { key: eva })).status).toBe(200);
  expect((await gantry.call("DELETE", "/api/v2/admin/users/admin")).status).toBe(409);
  expect((await gantry.call("DELETE", "/api/v2/admin/users/gantry")).status).toBe(404);
  expect((await gantry.call("DELETE", "/api/v2/admin/users/stranger")).status).toBe(404);

  // An admin deletes the team with its money, and then the person.
  await ok("POST", "/api/v2/admin/users/crew/credits", { json: { amount: 2, reason: "start" } });
  expect((await gantry.call("DELETE", "/api/v2/admin/users/crew")).status).toBe(202);
  expect((await gantry.call("GET", "/api/v2/me", { key: ofTeam.key })).status).toBe(401);
  const records = await gantry.database.sql`
    select action, entry -> 'before' ->> 'members' as members from audit_records where names @> array['crew']
    order by seq desc limit 1`;
  expect(records).toEqual([{ action: "user.delete", members: "1" }]);
  // A name that looks like the neutral one does not hold the deletion up.
  const { id } = await ok("GET", "/api/v2/me", { key: eva });
  await ok("POST", "/api/v2/admin/users", { json: { username: `deleted-${id.slice(-16)}` } });
  await ok("DELETE", "/api/v2/me", { key: eva, json });
  await waitFor("both deletions", async () => (await isGone("crew")) && (await isGone("eva")));
}, 60_000);

test("the last active admin cannot be deleted", async () => {
  const boss = await gantry.newUser("boss");
  await ok("PATCH", "/api/v2/admin/users/boss", { json: { role: "admin" } });
  await ok("PATCH", "/api/v2/admin/users/admin", { key: boss, json: { disabled: true } });
  const answer = await gantry.call("DELETE", "/api/v2/me", { key: boss, json: { username: "boss" } });
  expect([answer.status, answer.body.detail]).toEqual([409, expect.stringContaining("last active admin")]);
  await ok("PATCH", "/api/v2/admin/users/admin", { key: boss, json: { disabled: false } });
});
