import { describe, expect, test } from "vitest";
import { revokeEndedSessions } from "../../../src/features/accounts/index.ts";
import { useRunsPlatform } from "../../support/runs-platform.ts";
import { schedulesOf } from "../../support/schedules.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform();
const { makeAgent, newUser } = platform;
const { ask, create, read, change, makeDue, runsOf, settled } = schedulesOf(() => platform.gantry);
const input = { thing: "it" };

/** The schedule after a due time that must have created no run. */
async function pausedAt(id: string, key: string) {
  const before = await runsOf(id);
  await makeDue(id);
  const after = await settled(id, key);
  expect(await runsOf(id)).toEqual(before);
  expect(after, JSON.stringify(after)).toMatchObject({ status: "paused", enabled: true, next_times: [] });
  expect(after.last_skipped_at).not.toBeNull();
  return after;
}

describe("a schedule pauses itself", () => {
  test("when its key is revoked, and works again with the key that enables it", async () => {
    const { key } = await newUser();
    const agent = await makeAgent({}, key);
    const other = (await ask("POST", "/api/v2/keys", key, { name: "short-lived" })).body;
    const { id } = await create(agent, { input }, other.key);
    expect((await ask("DELETE", `/api/v2/keys/${other.id}`, key)).status).toBe(204);
    expect((await pausedAt(id, key)).paused_reason).toContain(
      "The API key of this schedule was revoked or has expired",
    );
    // A change alone does not end the pause.
    expect(await change(id, { name: "Mine" }, key)).toMatchObject({ status: "paused" });
    expect(await change(id, { enabled: true }, key)).toMatchObject({ status: "active", paused_reason: null });
    await makeDue(id);
    await settled(id, key);
    const [run] = await runsOf(id);
    const listed = (await ask("GET", "/api/v2/keys", key)).body.results.map((one: { id: string }) => one.id);
    expect(listed).toContain(run?.keyId);
  });

  test("when the agent is deleted, which readers see at once", async () => {
    const { key } = await newUser();
    const agent = await makeAgent({ name: "Gone" }, key);
    const { id } = await create(agent, { input }, key);
    expect((await ask("DELETE", `/v1/agents/${agent}`, key)).status).toBe(204);
    expect(await read(id, key)).toMatchObject({ status: "paused", next_times: [], agent_name: "Gone" });
    const { paused_reason: reason } = await pausedAt(id, key);
    expect(reason).toContain("The agent was deleted");
    expect((await ask("PATCH", `/v1/schedules/${id}`, key, { enabled: true })).status).toBe(404);
    expect((await ask("GET", `/v1/agents/${agent}/schedules`, key)).body.total).toBe(1);
  });

  test("when another user's agent is taken down, or its price changes", async () => {
    const [creator, caller] = [await newUser(), await newUser()];
    const market = { visibility: "public", pricing: { per_run: 0.25 } };
    const agent = await makeAgent(market, creator.key);
    // Without `expected_price`, the present price is expected.
    const { id, expected_price } = await create(agent, { input }, caller.key);
    expect(expected_price).toBe(0.25);
    expect((await create(agent, { input }, creator.key)).expected_price).toBeNull();
    const careless = await create(agent, { input, expected_price: null }, caller.key);
    await makeDue(id);
    expect(await settled(id, caller.key)).toMatchObject({ status: "active" });
    const [first] = await runsOf(id);
    // The caller pays.
    expect((await platform.ended(first?.id ?? "", caller.key)).cost).toBeGreaterThanOrEqual(0.25);

    await ask("PATCH", `/v1/agents/${agent}`, creator.key, { pricing: { per_run: 0.5 } });
    await ask("POST", `/v1/agents/${agent}/publish`, creator.key, {});
    const { paused_reason: reason } = await pausedAt(id, caller.key);
    expect(reason).toContain("The price of this agent is now $0.5, not $0.25.");
    expect(reason).toContain("change expected_price");
    await makeDue(careless.id);
    expect(await settled(careless.id, caller.key)).toMatchObject({ status: "active" });
    expect(await change(id, { expected_price: 0.5, enabled: true }, caller.key)).toMatchObject({ status: "active" });

    await ask("POST", `/api/v2/admin/agents/${agent}/take-down`, undefined, { reason: "abuse" });
    expect((await pausedAt(id, caller.key)).paused_reason).toContain("taken down");
  });

  test("when the agent no longer accepts its input", async () => {
    const { key } = await newUser();
    const agent = await makeAgent({}, key);
    const { id } = await create(agent, { input }, key);
    const strict = { type: "object", properties: { thing: { type: "integer" } }, required: ["thing"] };
    await ask("PATCH", `/v1/agents/${agent}`, key, { input_schema: strict });
    await ask("POST", `/v1/agents/${agent}/publish`, key, {});
    const { paused_reason: reason } = await pausedAt(id, key);
    expect(reason).toMatch(/^The agent no longer accepts the run: input\.thing: .* Correct the schedule and enable it/);
    expect(await change(id, { input: { thing: 1 }, enabled: true }, key)).toMatchObject({ status: "active" });
  });

  test("when the balance is too low for five due times in a row", async () => {
    const [creator, caller] = [await newUser(), await newUser({ credit: 1 })];
    const agent = await makeAgent({ visibility: "public", pricing: { per_run: 0.9 } }, creator.key);
    const { id } = await create(agent, { input }, caller.key);
    await makeDue(id);
    await settled(id, caller.key);
    await platform.ended((await runsOf(id))[0]?.id ?? "", caller.key);
    for (let n = 1; n < 5; n++) {
      const due = await makeDue(id);
      const after = await settled(id, caller.key);
      expect(after).toMatchObject({ status: "active", last_skipped_at: due.toISOString() });
      expect(after.skipped_reason).toContain("this run costs $0.9");
    }
    expect((await pausedAt(id, caller.key)).paused_reason).toMatch(/^5 due times in a row .* Add credit, then enable/);
  });
});

test("a rate limit delays the run", async () => {
  await platform.gantry.call("PUT", "/api/v2/admin/plans/slow", { json: { requests_per_minute: 3, parallel: 2 } });
  const { key } = await newUser({ plan: "slow" });
  const agent = await makeAgent({}, key);
  const { id } = await create(agent, { input }, key);
  for (let n = 0; n < 4; n++) await platform.run(agent, { input, wait: 0 }, { key });
  const due = await makeDue(id);
  const state = async () => {
    const [row] = await platform.gantry.database.sql<[{ tries: number; waits: boolean }]>`
      select tries, look_at > now() as waits from schedules where id = ${id}`;
    return row;
  };
  await waitFor("the first try to be refused", async () => {
    const { tries, waits } = await state();
    return tries === 1 && waits;
  });
  expect(await runsOf(id)).toEqual([]);
  expect(await read(id, key)).toMatchObject({ status: "active", last_skipped_at: null });
  await platform.gantry.call("PUT", "/api/v2/admin/plans/slow", { json: { requests_per_minute: 1000, parallel: 2 } });
  await platform.gantry.database.sql`update schedules set look_at = now() where id = ${id}`;
  expect(await settled(id, key)).toMatchObject({ last_due_at: due.toISOString() });
  expect(await runsOf(id)).toHaveLength(1);
});

test("a key limited to models schedules agents that it reaches, and sees only its own schedules", async () => {
  const { key } = await newUser();
  const [agent, other] = [await makeAgent({}, key), await makeAgent({}, key)];
  const [{ slug }, { username }] = [
    (await ask("GET", `/v1/agents/${agent}`, key)).body,
    (await ask("GET", "/api/v2/me", key)).body,
  ];
  const app = (await ask("POST", "/api/v2/keys", key, { models: [`agents/${username}/${slug}`] })).body.key;
  const refused = await ask("POST", `/v1/agents/${other}/schedules`, app, { cron: "0 9 * * *", input });
  expect([refused.status, refused.body.error.message]).toEqual([404, "Agent not found"]);
  const ofOwner = await create(agent, { input }, key);
  const { id } = await create(agent, { input }, app);
  expect((await ask("GET", "/v1/schedules", app)).body).toMatchObject({ schedules: [{ id }], total: 1 });
  expect((await ask("GET", `/v1/agents/${agent}/schedules`, app)).body).toMatchObject({
    schedules: [{ id }],
    total: 1,
  });
  for (const [method, path] of [["GET", ""] as const, ["DELETE", ""] as const, ["POST", "/run"] as const]) {
    expect((await ask(method, `/v1/schedules/${ofOwner.id}${path}`, app)).status).toBe(404);
  }
  expect((await ask("GET", "/v1/schedules", key)).body.total).toBe(2);
  await makeDue(id);
  await settled(id, app);
  expect(await runsOf(id)).toHaveLength(1);
});

test("a schedule made in the console outlives its session", async () => {
  const { key, name } = await newUser();
  const agent = await makeAgent({}, key);
  const { id } = await create(agent, { input }, key);
  const { sql } = platform.gantry.database;
  const ended = { userId: (await sql<[{ id: string }]>`select id from users where username = ${name}`)[0].id };
  // As the key of a sign-in link whose session ended long ago.
  await sql`update api_keys set session_ends_at = now() - interval '200 days' where user_id = ${ended.userId}`;
  await revokeEndedSessions(sql, new Date(), 1000);
  await makeDue(id);
  await waitFor("the run", async () => (await runsOf(id)).length === 1);
  await sql`delete from schedules where id = ${id}`;
  await revokeEndedSessions(sql, new Date(), 1000);
  const [row] = await sql`select revoked_at is not null as revoked from api_keys where user_id = ${ended.userId}`;
  expect(row).toEqual({ revoked: true });
});
