import { afterAll, beforeAll, expect, test } from "vitest";
import { deleteMember } from "../../../src/features/accounts/teams/team-store.ts";
import { type AgentRuns, startAgentRuns } from "../../support/agent-runs.ts";
import { type Answer, type GantryNode, startGantry } from "../../support/gantry.ts";
import { schedulesOf } from "../../support/schedules.ts";
import { waitFor } from "../../support/wait-for.ts";
import { type Calls, messageOf, type TeamCalls, teamCalls } from "./teams.fixture.ts";

let t: AgentRuns;
let gantry: GantryNode;
let calls: TeamCalls;
const names = ["olga", "anna", "mark", "mira"] as const;
const keys = {} as Record<(typeof names)[number], string>;
const own = (name: keyof typeof keys): Calls => calls.as(keys[name]);
const lab = (name: keyof typeof keys): Calls => calls.as(keys[name], "lab");
const members = "/api/v2/teams/lab/members";

beforeAll(async () => {
  t = await startAgentRuns();
  gantry = t.gantry as GantryNode;
  calls = teamCalls(gantry);
  for (const name of names) keys[name] = await gantry.newUser(name, { credit: 0 });
  await calls.newTeam("lab", "olga", 5);
  await calls.add("lab", "anna", { role: "admin" });
  await calls.add("lab", "mark");
  await calls.add("lab", "mira");
}, 60_000);
afterAll(() => t.close());

const refused = async (call: ReturnType<Calls["get"]>, status: number, text: string) => {
  const answer = await call;
  expect([answer.status, messageOf(answer)], answer.text).toEqual([status, expect.stringContaining(text)]);
};

test("a person owns at most twenty teams, also of those created at the same moment", async () => {
  const open = await startGantry({ beside: gantry, env: { GANTRY_TEAM_CREATION: "everyone" } });
  const key = await gantry.newUser("tess", { credit: 0 });
  const create = (_: unknown, n: number) =>
    open.call("POST", "/api/v2/teams", { key, json: { name: `of-tess-${n}` } }).then(({ status }) => status);
  const statuses = await Promise.all(Array.from({ length: 23 }, create));
  expect(statuses.toSorted()).toEqual([...Array(20).fill(201), 409, 409, 409]);
  await open.close();
});

test("a person who loses the account in this moment does not join", async () => {
  await gantry.newUser("pia", { credit: 0 });
  let answer: Promise<Answer> | undefined;
  await gantry.database.transaction(async (tx) => {
    await tx`update users set disabled_at = now() where username = 'pia'`;
    answer = own("olga").send("POST", members, { json: { username: "pia" } });
    await waitFor("the team to wait for the person", async () => {
      const rows = await gantry.database.sql`
        select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
      return rows.length > 0;
    });
  });
  expect((await answer)?.status).toBe(422);
});

/** Costs 0.03 dollars; a small picture is painted quickly. */
const draw = (by: Calls) =>
  by.send("POST", "/api/v1/gantry/image/predict", {
    form: { prompt: "x", size: "1280x720", optimize_prompt_mode: "fast" },
  });

test("a member who is removed in this moment gets no key", async () => {
  const { sql, transaction } = gantry.database;
  await calls.newTeam("haste", "olga", 0);
  await calls.add("haste", "mira");
  let creating: Promise<Answer> | undefined;
  await transaction(async (tx) => {
    const [team] = await tx<{ id: string }[]>`select id from users where username = 'haste' for no key update`;
    const [mira] = await tx<{ id: string }[]>`select id from users where username = 'mira'`;
    creating = calls.as(keys.mira, "haste").send("POST", "/api/v2/keys", { json: {} });
    await waitFor("the key to wait for the team", async () => {
      const waiting = await sql`
        select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
      return waiting.length > 0;
    });
    await deleteMember(tx, team?.id ?? "", mira?.id ?? "", new Date());
  });
  expect((await creating)?.status).toBe(401);
});

test("a team has one name with users, and only admins create teams by default", async () => {
  await refused(own("mark").send("POST", "/api/v2/teams", { json: { name: "mine" } }), 403, "Only admins create teams");
  await refused(gantry.call("POST", "/api/v2/teams", { json: { name: "mark" } }), 409, "name is taken");
  expect((await gantry.call("POST", "/api/v2/admin/users", { json: { username: "lab" } })).status).toBe(409);
  for (const name of ["api", "UPPER", "-x", ""]) {
    expect((await gantry.call("POST", "/api/v2/teams", { json: { name } })).status).toBe(422);
  }
  expect((await own("mark").get("/api/v2/teams")).body).toMatchObject({
    results: [{ name: "lab", role: "member", members: 4, plan: "unlimited" }],
    total_count: 1,
  });
});

test("roles decide who manages whom, and one owner always remains", async () => {
  const change = (by: Calls, username: string, json: object) => by.send("PATCH", `${members}/${username}`, { json });
  await refused(change(own("mark"), "mira", { role: "admin" }), 403, "Only admins and owners");
  await refused(change(own("anna"), "mira", { role: "owner" }), 403, "Only an owner");
  await refused(change(own("anna"), "olga", { role: "member" }), 403, "Only an owner");
  await refused(own("anna").send("DELETE", `${members}/olga`), 403, "Only an owner");
  await refused(change(own("olga"), "olga", { role: "admin" }), 409, "last active owner");
  await refused(own("olga").send("DELETE", `${members}/olga`), 409, "last active owner");
  await refused(own("anna").send("POST", members, { json: { username: "mark" } }), 409, "already");
  await refused(own("anna").send("POST", members, { json: { username: "lab" } }), 422, "");
  // A disabled owner cannot manage the team, so it does not count.
  await own("olga").made("PATCH", `${members}/mira`, { json: { role: "owner" } });
  await gantry.call("PATCH", "/api/v2/admin/users/mira", { json: { disabled: true } });
  await refused(own("olga").send("DELETE", `${members}/olga`), 409, "last active owner");
  await gantry.call("PATCH", "/api/v2/admin/users/mira", { json: { disabled: false } });
  await own("olga").made("PATCH", `${members}/mira`, { json: { role: "member" } });
});

test("members leave a team whose only owner is disabled, and the owner stays", async () => {
  const crew = "/api/v2/teams/crew/members";
  const people = ["otto", "cleo", "carl", "cora"];
  const [, cleo = "", carl = ""] = await Promise.all(people.map((name) => gantry.newUser(name, { credit: 0 })));
  await calls.newTeam("crew", "otto", 0);
  for (const name of people.slice(1)) await calls.add("crew", name);
  await gantry.call("PATCH", "/api/v2/admin/users/otto", { json: { disabled: true } });
  expect((await calls.as(cleo).send("DELETE", `${crew}/cleo`)).status).toBe(204);
  expect((await calls.as(carl).send("DELETE", "/api/v2/me", { json: { username: "carl" } })).status).toBe(202);
  expect((await gantry.call("PATCH", `${crew}/cora`, { json: { role: "admin" } })).status).toBe(200);
  expect((await gantry.call("DELETE", `${crew}/cora`)).status).toBe(204);
  await refused(gantry.call("DELETE", `${crew}/otto`), 409, "last active owner");
});

test("of two owners that leave at the same time, one stays", async () => {
  await calls.newTeam("pair", "mark", 0);
  await calls.add("pair", "mira", { role: "owner" });
  const leave = (name: "mark" | "mira") => own(name).send("DELETE", `/api/v2/teams/pair/members/${name}`);
  const left = await Promise.all([leave("mark"), leave("mira")]);
  expect(left.map(({ status }) => status).toSorted()).toEqual([204, 409]);
});

test("a key of the team cannot manage another team", async () => {
  const { key } = (await lab("anna").made("POST", "/api/v2/keys", { json: {} })).body;
  expect((await calls.as(key).get(members)).status).toBe(200);
  await calls.newTeam("other", "anna", 0);
  await refused(calls.as(key).get("/api/v2/teams/other"), 404, "Team not found");
  await refused(lab("anna").get("/api/v2/teams/other/members"), 404, "Team not found");
  await refused(own("mark").get("/api/v2/teams/other"), 404, "Team not found");
});

test("the budget of a member bounds all its keys, and its usage is listed by member", async () => {
  const bot = calls.as((await lab("mark").made("POST", "/api/v2/keys", { json: { name: "bot" } })).body.key);
  for (const by of [lab("mark"), bot, lab("mira")]) expect((await draw(by)).status).toBe(200);
  const limit = (json: object) => own("anna").made("PATCH", `${members}/mark`, { json });
  // What was spent before counts.
  expect((await limit({ monthly_limit: 0.09 })).body).toMatchObject({ monthly_limit: 0.09, spent: 0.06 });
  expect((await draw(bot)).status).toBe(200);
  for (const by of [bot, lab("mark")]) expect((await draw(by)).status).toBe(403);
  expect((await draw(lab("mira"))).status).toBe(200);
  await limit({ monthly_limit: null, daily_limit: 0.12 });
  expect((await draw(lab("mark"))).status).toBe(200);
  for (const by of [bot, lab("mark")]) expect((await draw(by)).status).toBe(403);
  await limit({ daily_limit: null });
  expect((await draw(bot)).status).toBe(200);

  const usage = async (by: Calls) =>
    (await by.made("GET", "/api/v2/teams/lab/usage?by=member")).body.results.map(
      ({ member, requests, spent }: { member: string; requests: number; spent: number }) => ({
        member,
        requests,
        spent,
      }),
    );
  const ofMark = { member: "mark", requests: 5, spent: 0.15 };
  await expect.poll(() => usage(own("olga"))).toEqual([ofMark, { member: "mira", requests: 2, spent: 0.06 }]);
  expect(await usage(lab("mark"))).toEqual([ofMark]);
  const beyond = await own("olga").made("GET", "/api/v2/teams/lab/usage?by=member&page=9");
  expect(beyond.body).toMatchObject({ results: [], total_count: 2, total_pages: 1 });
  const seen = (await own("mira").made("GET", members)).body.results;
  expect(seen.map(({ username, spent }: { username: string; spent: number | null }) => [username, spent])).toEqual([
    ["anna", null],
    ["mark", null],
    ["mira", 0.06],
    ["olga", null],
  ]);
  expect((await gantry.call("GET", "/api/v2/admin/ledger")).body.discrepancies).toEqual([]);
  expect((await lab("olga").get("/lab/expenses")).body.total_spent).toBeCloseTo(0.21);
  expect((await lab("mira").get("/lab/expenses")).body.total_spent).toBeCloseTo(0.06);
});

test("the tokens a minute of a member bound all its keys, on every route", async () => {
  const bot = calls.as((await lab("mark").made("POST", "/api/v2/keys", { json: { name: "writer" } })).body.key);
  const limit = (tokens: number | null) =>
    own("anna").made("PATCH", `${members}/mark`, { json: { tokens_per_minute: tokens } });
  const model = "gantry/text";
  const chat = { model, messages: [{ role: "user", content: "say hi" }], max_tokens: 10 };
  const form = { prompt: "say hi" };
  const text = `${JSON.stringify({ custom_id: "a", method: "POST", url: "/v1/chat/completions", body: chat })}\n`;
  const agent = { name: "Writer", goal: "x", tools: [], model };
  const agentId = (await lab("olga").made("POST", "/v1/agents", { json: agent })).body.id;
  await lab("olga").made("POST", `/v1/agents/${agentId}/publish`, { json: {} });
  await limit(1);
  for (const by of [bot, lab("mark")]) {
    await refused(by.send("POST", "/v1/chat/completions", { json: chat }), 400, "allows 1 a minute");
    for (const path of ["predict/async/", "predict/stream/"]) {
      const answer = await by.send("POST", `/api/v1/${model}/${path}`, { form });
      expect([path, answer.status], answer.text).toEqual([path, 422]);
    }
    const run = await by.made("POST", `/v1/agents/${agentId}/runs`, { json: { input: {}, wait: 30 } });
    expect(run.body).toMatchObject({
      status: "error",
      error: { message: expect.stringContaining("allows 1 a minute") },
    });
    const file = await by.made("POST", "/v1/files", { form: { purpose: "batch", file: new Blob([text]) } });
    const asked = { input_file_id: file.body.id, endpoint: "/v1/chat/completions", completion_window: "24h" };
    const { id } = (await by.made("POST", "/v1/batches", { json: asked })).body;
    await expect
      .poll(async () => (await by.get(`/v1/batches/${id}`)).body, { timeout: 20_000 })
      .toMatchObject({ status: "completed", request_counts: { failed: 1 } });
  }
  // A minute that another key of the member has used up.
  await limit(1_000_000);
  const [seat] = await gantry.database.sql<{ id: string }[]>`
    select m.seat_key_id as id from team_members m join users p on p.id = m.user_id where p.username = 'mark' limit 1`;
  await gantry.database.sql`
    insert into key_tokens values (${seat?.id ?? ""}, array[(extract(epoch from clock_timestamp()))::bigint, 1000000])
    on conflict (key_id) do update set window_tokens = excluded.window_tokens`;
  for (const by of [bot, lab("mark")]) {
    expect((await by.send("POST", `/api/v1/${model}/predict/stream/`, { form })).status).toBe(429);
  }
  await limit(null);
  expect((await bot.send("POST", `/api/v1/${model}/predict/stream/`, { form })).status).toBe(200);
});

test("a member with a budget keeps its rights", async () => {
  await own("olga").made("PATCH", `${members}/anna`, { json: { monthly_limit: 1, tokens_per_minute: 9 } });
  const { key } = (await lab("anna").made("POST", "/api/v2/keys", { json: {} })).body;
  for (const by of [lab("anna"), calls.as(key)]) expect((await by.get("/api/v2/secrets")).status).toBe(200);
});

test("a seat cannot be rotated, changed or revoked", async () => {
  const listed = (await lab("olga").made("GET", "/api/v2/keys")).body.results;
  const [found] = await gantry.database.sql<{ seat: string }[]>`
    select m.seat_key_id as seat from team_members m join users p on p.id = m.user_id where p.username = 'mark' limit 1`;
  const seat = found?.seat;
  expect(listed.map(({ id }: { id: string }) => id)).not.toContain(seat);
  for (const [method, path, json] of [
    ["POST", `/api/v2/keys/${seat}/rotate`, {}],
    ["PATCH", `/api/v2/keys/${seat}`, { monthly_limit: null }],
    ["DELETE", `/api/v2/keys/${seat}`, undefined],
  ] as const) {
    await refused(lab("olga").send(method, path, { json }), 404, "Key not found");
  }
  await refused(gantry.call("DELETE", `/api/v2/admin/users/lab/keys/${seat}`), 404, "Key not found");
});

test("schedules and triggers of a removed member pause with their reason; those of others stay active", async () => {
  const agent = await lab("olga").made("POST", "/v1/agents", {
    json: { name: "Daily", goal: "x", tools: [], model: "gantry/text" },
  });
  const path = `/v1/agents/${agent.body.id}`;
  await lab("olga").made("POST", `${path}/publish`, { json: {} });
  const schedule = async (by: Calls) =>
    (await by.made("POST", `${path}/schedules`, { json: { cron: "0 0 1 1 *", input: {} } })).body.id;
  const trigger = async (by: Calls) => (await by.made("POST", `${path}/triggers`, { json: {} })).body;
  const bot = calls.as((await lab("mark").made("POST", "/api/v2/keys", { json: { name: "nightly" } })).body.key);
  const ofMark = [await schedule(lab("mark")), await schedule(bot)];
  const ofAnna = await schedule(lab("anna"));
  const [hooks, annas] = [[await trigger(lab("mark")), await trigger(bot)], await trigger(lab("anna"))];
  expect((await lab("mira").get(`/v1/schedules/${ofMark[0]}`)).status).toBe(404);
  const hook = `/v1/triggers/${hooks[0]?.id}`;
  const rename = { json: { name: "Renamed" } };
  for (const refused of [
    await lab("mira").get(hook),
    await lab("mira").get(`${hook}/deliveries`),
    await lab("mira").send("PATCH", hook, rename),
    await lab("mira").send("POST", `${hook}/rotate`),
    await lab("mira").send("DELETE", hook),
  ]) {
    expect(refused.status, refused.text).toBe(404);
  }
  expect((await lab("mira").get("/v1/triggers")).body).toMatchObject({ triggers: [], total: 0 });
  // Runs still use the key of its member.
  expect((await lab("anna").made("PATCH", hook, rename)).body.name).toBe("Renamed");
  await own("mark").made("DELETE", `${members}/mark`);

  await schedulesOf(() => gantry).makeDue([...ofMark, ofAnna]);
  const stateOf = async (what: string) => (await lab("olga").made("GET", `/v1/${what}`)).body;
  for (const id of ofMark) {
    await expect
      .poll(() => stateOf(`schedules/${id}`), { timeout: 20_000 })
      .toMatchObject({
        status: "paused",
        paused_reason: expect.stringContaining("The API key of this schedule was revoked or has expired"),
        last_run_id: null,
      });
  }
  await expect
    .poll(() => stateOf(`schedules/${ofAnna}`), { timeout: 20_000 })
    .toMatchObject({
      status: "active",
      paused_reason: null,
      last_run_id: expect.stringMatching(/^run_/),
    });
  const post = (url: string) =>
    fetch(url, { method: "POST", body: "{}", headers: { "content-type": "application/json" } });
  for (const { id, url } of hooks) {
    expect((await post(url)).status).toBe(409);
    expect(await stateOf(`triggers/${id}`)).toMatchObject({
      status: "paused",
      paused_reason: expect.stringContaining("The API key of the trigger no longer works"),
    });
  }
  expect((await post(annas.url)).status).toBe(202);
  // An admin of the team takes one over.
  await lab("olga").made("PATCH", `/v1/schedules/${ofMark[0]}`, { json: { enabled: true } });
  expect(await stateOf(`schedules/${ofMark[0]}`)).toMatchObject({ status: "active", paused_reason: null });
  await calls.add("lab", "mark");
  // The team closes later without work.
  const { last_run_id: ofSchedule } = await stateOf(`schedules/${ofAnna}`);
  const { last_run_id: ofTrigger } = await stateOf(`triggers/${annas.id}`);
  for (const run of [ofSchedule, ofTrigger]) {
    await expect.poll(() => stateOf(`runs/${run}`)).toMatchObject({ phase: "ended" });
  }
});

test("the audit log of the team names the member who acted", async () => {
  await lab("anna").made("PUT", "/api/v2/secrets/crm", { json: { value: "token" } });
  const { results } = (await lab("olga").made("GET", "/api/v2/audit?action=secret.put")).body;
  expect(results[0]).toMatchObject({ actor: { username: "anna" }, owner: { username: "lab" } });
  await refused(lab("mira").get("/api/v2/audit"), 403, "read the audit log");
});

test("a team closes when it has no money and no work", async () => {
  await refused(own("anna").send("DELETE", "/api/v2/teams/lab"), 403, "Only an owner");
  await refused(own("olga").send("DELETE", "/api/v2/teams/lab"), 409, "balance is $4.7");
  const left = (await lab("olga").get("/api/v2/me")).body.balance;
  await gantry.call("POST", "/api/v2/admin/users/lab/credits", { json: { amount: -left, reason: "closing" } });
  await own("olga").made("DELETE", "/api/v2/teams/lab");
  await refused(lab("olga").get("/api/v2/me"), 404, "Team not found");
  expect((await own("mark").get("/api/v2/teams")).body.results.map(({ name }: { name: string }) => name)).not.toContain(
    "lab",
  );
  await gantry.call("PATCH", "/api/v2/admin/users/lab", { json: { disabled: false } });
  expect((await lab("mark").get("/api/v2/me")).status).toBe(200);
});
