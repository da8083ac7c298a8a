import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verifyLedger } from "../../../src/features/billing/index.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { chatModel, createModels, object, text } from "../../support/models.ts";
import { search } from "../../support/notices.ts";
import { type ScriptedLlm, startScriptedLlm } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";
import { type HookReceiver, startHookReceiver } from "../../support/webhook-receiver.ts";
import { teamCalls } from "../teams/teams.fixture.ts";

let gantry: GantryNode;
/** A second node, which searches too. */
let other: GantryNode;
let llm: ScriptedLlm;
let receiver: HookReceiver;

beforeAll(async () => {
  [llm, receiver] = await Promise.all([startScriptedLlm(), startHookReceiver()]);
  gantry = await startGantry();
  other = await startGantry({ beside: gantry });
  const output = object({ output: text });
  const pricing = { per_request: 0.25 };
  await createModels(gantry, { quarter: chatModel(llm.url, { kind: "other", output, pricing }) });
}, 60_000);
afterAll(async () => {
  expect(await verifyLedger(gantry.database)).toEqual([]);
  await other.close();
  await gantry.close();
  await Promise.all([llm.close(), receiver.close()]);
});

const forTeam = (team: string | undefined): { headers: Record<string, string> } => ({
  headers: team === undefined ? {} : { "x-gantry-team": team },
});
const get = (path: string, key: string, team?: string) => gantry.call("GET", path, { key, ...forTeam(team) });
const notices = async (key: string, query = "", team?: string) => {
  const answer = await get(`/api/v2/notices${query}`, key, team);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.results;
};
/** Each costs 25 cents. */
async function spend(key: string, times: number, team?: string): Promise<void> {
  for (let n = 0; n < times; n++) {
    const options = { key, form: { prompt: "hi" }, ...forTeam(team) };
    const { body, text: answer } = await gantry.call("POST", "/api/v1/admin/quarter/predict", options);
    expect(body.status, answer).toBe(200);
  }
}
const credit = (username: string, amount: number) =>
  gantry.call("POST", `/api/v2/admin/users/${username}/credits`, { json: { amount, reason: "test" } });
const settings = (key: string, json: object, team?: string) =>
  gantry.call("PUT", "/api/v2/notices/settings", {
    key,
    json: { balance_below: 1, budget_percent: 80, ...json },
    ...forTeam(team),
  });
const keyWith = async (key: string, json: object) => (await gantry.call("POST", "/api/v2/keys", { key, json })).body;
/** Longer than an address may be once it is encoded. */
const long = { a: "ü".repeat(2_000) };
const month = () => new Date().toISOString().slice(0, 7);

describe("a balance", () => {
  test("below the threshold is one notice with one signed webhook, until credit resolves it", async () => {
    const key = await gantry.newUser("anna", { credit: 1.25 });
    const [secret] = (await get("/api/v2/webhooks/secret", key)).body.secrets;
    const webhook = {
      url: `${receiver.url}/low`,
      headers: { authorization: "Bearer of-anna" },
      query_params: { n: "1" },
    };
    expect((await settings(key, { webhook })).body).toEqual({
      balance_below: 1,
      budget_percent: 80,
      webhook: { url: `${receiver.url}/low` },
    });
    await spend(key, 1);
    await search(gantry);
    expect(await notices(key)).toEqual([]);

    await spend(key, 1);
    await search(gantry);
    await search(gantry);
    const [notice, ...more] = await notices(key);
    expect(more).toEqual([]);
    expect(notice).toMatchObject({
      id: expect.stringMatching(/^ntc_/),
      ...{ kind: "balance_low", owner: "anna", key: null, period: null, limit: 1, value: 0.75 },
      ...{ message: "The balance of anna is $0.75, below $1.00.", resolved_at: null, dismissed_at: null },
    });
    await waitFor("the webhook", () => receiver.received.length === 1);
    const [hook] = receiver.received;
    expect(hook?.url).toBe("/low?n=1");
    expect(hook?.headers.authorization).toBe("Bearer of-anna");
    expect(new Webhook(secret).verify(hook?.text ?? "", hook?.headers as Record<string, string>)).toEqual({
      type: "notice.balance_low",
      timestamp: notice.created_at,
      notice,
    });
    const listed = await get(`/api/v2/webhooks/deliveries?notice_id=${notice.id}`, key);
    expect(listed.body.results).toMatchObject([
      { id: hook?.headers["webhook-id"], kind: "notice", notice_id: notice.id, prediction_id: null, run_id: null },
    ]);
    expect((await gantry.call("GET", "/api/v2/admin/users/anna")).body).toMatchObject({ balance_low: true });

    await credit("anna", 0.5);
    await search(gantry);
    expect(await notices(key)).toEqual([]);
    expect(await notices(key, "?status=all")).toMatchObject([{ id: notice.id, resolved_at: expect.any(String) }]);
    expect((await gantry.call("GET", "/api/v2/admin/users/anna")).body).toMatchObject({ balance_low: false });

    // A later drop is a new notice, through all the ways of finding it twice.
    await spend(key, 2);
    await search(gantry);
    await search(other);
    const [second, ...third] = await notices(key);
    expect([second.id === notice.id, third]).toEqual([false, []]);
    expect((await notices(key, "?status=all")).map(({ id }: { id: string }) => id)).toEqual([second.id, notice.id]);
    await waitFor("the second webhook", () => receiver.received.length === 2);
    expect((await get("/api/v2/webhooks/deliveries", key)).body.total_count).toBe(2);
  });

  test("of an account that never had credit creates no notice; its threshold can change", async () => {
    const poor = await gantry.newUser("poor", { credit: 0 });
    const rich = await gantry.newUser("rich", { credit: 3 });
    expect((await get("/api/v2/notices/settings", rich)).body).toEqual({
      ...{ balance_below: 1, budget_percent: 80, webhook: null },
    });
    await search(gantry);
    expect([await notices(poor), await notices(rich)]).toEqual([[], []]);
    await settings(rich, { balance_below: 5 });
    await search(gantry);
    expect(await notices(rich)).toMatchObject([{ limit: 5, value: 3 }]);
    await settings(rich, { balance_below: null });
    await search(gantry);
    expect(await notices(rich)).toEqual([]);
  });
});

describe("a budget", () => {
  test("of a month and of a day, at the percentage and when it is spent", async () => {
    const key = await gantry.newUser("bert");
    const monthly = await keyWith(key, { name: "website", monthly_limit: 1 });
    const daily = await keyWith(key, { name: "nightly", daily_limit: 1.25 });
    await spend(monthly.key, 3);
    await spend(daily.key, 4);
    await search(gantry);
    expect(await notices(key)).toMatchObject([
      {
        ...{ kind: "budget_low", period: new Date().toISOString().slice(0, 10), limit: 1.25, value: 1 },
        key: { id: daily.id, name: "nightly", member: null, seat: false },
      },
    ]);
    await spend(monthly.key, 1);
    await search(gantry);
    await search(gantry);
    const found = await notices(key);
    expect(found).toMatchObject([
      { kind: "budget_spent", period: month(), limit: 1, value: 1, key: { name: "website" } },
      { kind: "budget_low", key: { name: "nightly" } },
    ]);

    // A higher budget, or the end of the day, resolves them.
    await gantry.call("PATCH", `/api/v2/keys/${monthly.id}`, { key, json: { monthly_limit: 5 } });
    await gantry.database.sql`update notices set period = '2026-01-31' where id = ${found[1].id}`;
    await gantry.database.sql`update key_days set day = day - 1 where key_id = ${daily.id}`;
    await search(gantry);
    expect(await notices(key)).toEqual([]);
    expect(await notices(key, "?status=all&page_size=1")).toHaveLength(1);
  });

  test("of a key that is revoked, or without notices by percentage, creates no notice", async () => {
    const key = await gantry.newUser("cleo");
    const made = await keyWith(key, { name: "old", monthly_limit: 0.25 });
    await settings(key, { budget_percent: null });
    await spend(made.key, 1);
    await search(gantry);
    expect(await notices(key)).toEqual([]);
    await settings(key, { budget_percent: 50 });
    await search(gantry);
    expect(await notices(key)).toMatchObject([{ kind: "budget_spent" }]);
    await gantry.call("DELETE", `/api/v2/keys/${made.id}`, { key });
    await search(gantry);
    expect(await notices(key)).toEqual([]);
  });
});

test("many nodes that search at once create and send a notice once", async () => {
  const key = await gantry.newUser("dora", { credit: 1 });
  await settings(key, { webhook: { url: `${receiver.url}/dora` } });
  await spend(key, 1);
  const { sql } = gantry.database;
  for (let n = 0; n < 5; n++) await Promise.all([search(gantry), search(other)]);
  expect(await notices(key, "?status=all")).toHaveLength(1);
  await waitFor("the webhook", () => receiver.received.some(({ url }) => url === "/dora"));
  const deliveries = await get("/api/v2/webhooks/deliveries", key);
  expect(deliveries.body).toMatchObject({ total_count: 1, results: [{ kind: "notice" }] });
  // The index refuses what a search in another transaction has not seen.
  const twice = sql`
    insert into notices (id, user_id, kind, limit_micros, value_micros)
    select 'ntc_twice', user_id, kind, 1, 1 from notices where user_id = (select id from users where username = 'dora')`;
  await expect(twice).rejects.toThrow("notices_open");
});

describe("of a team", () => {
  test("a member sees its own budget and keys, admins see everything, and each dismisses for itself", async () => {
    const calls = teamCalls(gantry);
    const keys: Record<string, string> = {};
    for (const name of ["olga", "max", "nina"]) keys[name] = await gantry.newUser(name, { credit: 0 });
    const { olga = "", max = "", nina = "" } = keys;
    await calls.newTeam("crew", "olga");
    await calls.add("crew", "max", { role: "member", monthly_limit: 0.5 });
    await calls.add("crew", "nina", { role: "member" });
    await spend(max, 2, "crew");
    await settings(olga, { balance_below: 1_000 }, "crew");
    await search(gantry);

    const seen = await notices(olga, "", "crew");
    expect(seen).toMatchObject([
      { kind: "budget_spent", owner: "crew", key: { member: "max", seat: true }, limit: 0.5 },
      { kind: "balance_low", owner: "crew", limit: 1_000 },
    ]);
    expect(await notices(max, "", "crew")).toEqual([seen[0]]);
    expect([await notices(nina, "", "crew"), await notices(max), await notices(olga)]).toEqual([[], [], []]);

    const dismiss = (id: string, key: string, team?: string) =>
      gantry.call("DELETE", `/api/v2/notices/${id}`, { key, ...forTeam(team) });
    expect((await dismiss(seen[0].id, nina, "crew")).status).toBe(404);
    expect((await dismiss(seen[1].id, max, "crew")).status).toBe(404);
    expect((await dismiss(seen[0].id, olga)).status).toBe(404);
    for (let n = 0; n < 2; n++) expect((await dismiss(seen[0].id, max, "crew")).status).toBe(204);
    expect(await notices(max, "", "crew")).toEqual([]);
    expect(await notices(max, "?status=all", "crew")).toMatchObject([{ dismissed_at: expect.any(String) }]);
    expect(await notices(olga, "", "crew")).toHaveLength(2);
    expect((await get("/api/v2/notices/settings", max, "crew")).status).toBe(403);
    expect((await settings(max, {}, "crew")).status).toBe(403);
  });
});

describe("access and input", () => {
  test("a confined key is refused; a key with a budget reads, and changes no settings", async () => {
    const key = await gantry.newUser("finn");
    const confined = await keyWith(key, { models: ["admin/quarter"] });
    const limited = await keyWith(key, { monthly_limit: 1 });
    expect((await get("/api/v2/notices", confined.key)).status).toBe(403);
    expect((await get("/api/v2/notices/settings", confined.key)).status).toBe(403);
    expect((await get("/api/v2/notices", limited.key)).status).toBe(200);
    expect((await settings(limited.key, {})).status).toBe(403);
  });

  test.each([
    [{ balance_below: -1 }, "balance_below"],
    [{ balance_below: 0.0000001 }, "balance_below"],
    [{ balance_below: "1" }, "balance_below"],
    [{ budget_percent: 0 }, "budget_percent"],
    [{ budget_percent: 101 }, "budget_percent"],
    [{ budget_percent: 2.5 }, "budget_percent"],
    [{ webhook: { url: "ftp://example.com" } }, "webhook"],
    [{ webhook: { url: "https://me:pass@example.com" } }, "webhook"],
    [{ webhook: { url: "https://example.com", query_params: long } }, "webhook"],
    [{ webhook: { url: "https://example.com", events: ["done"] } }, "webhook"],
    [{ email: "me@example.com" }, "email"],
  ])("422: %j", async (json, field) => {
    const { status, body } = await settings(gantry.adminKey, json);
    expect([status, body.detail[0].loc.slice(0, 2)]).toEqual([422, ["body", field]]);
  });

  test("the target of the webhook is stored sealed, stays if it is left out, and goes with null", async () => {
    const key = await gantry.newUser("gina");
    const webhook = { url: "https://example.com/PLANTED-path", headers: { "x-token": "PLANTED" } };
    await settings(key, { webhook });
    const [row] = await gantry.database.sql<{ text: string }[]>`
      select s::text as text from notice_settings s join users u on u.id = s.user_id where u.username = 'gina'`;
    expect(row?.text).toContain("https://example.com");
    expect(Buffer.from(row?.text ?? "").includes("PLANTED")).toBe(false);
    expect((await settings(key, { balance_below: 2 })).body.webhook).toEqual({ url: webhook.url });
    expect((await settings(key, { webhook: null })).body.webhook).toBeNull();
  });
});
