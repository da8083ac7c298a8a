import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { forgetFutureTimes } from "../../../src/features/schedules/store.ts";
import { type AgentRuns, startAgentRuns } from "../../support/agent-runs.ts";
import { startGantry } from "../../support/gantry.ts";
import { schedulesOf } from "../../support/schedules.ts";
import { waitFor } from "../../support/wait-for.ts";

let t: AgentRuns;
let agentId: string;
const { ask, create, read, change, makeDue, runsOf, settled } = schedulesOf(() => t.gantry);

const schema = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};
const input = { city: "Berlin" };
/** Hourly, about half an hour from now, so that no due time comes while a test runs. */
const hourly = () => `${(new Date().getMinutes() + 30) % 60} * * * *`;

beforeAll(async () => {
  t = await startAgentRuns();
  agentId = await t.makeAgent({ name: "Weather", goal: "Weather of {{city}}.", input_schema: schema });
});
afterAll(() => t.close());
beforeEach(() => {
  t.llm.script = () => ({ text: "done" });
});

describe("a schedule", () => {
  test("shows its settings and its next times in its time zone", async () => {
    const made = await create(agentId, { name: "Morning", cron: "30 9 * * MON-FRI", timezone: "Europe/Berlin", input });
    expect(made).toMatchObject({
      agent_id: agentId,
      agent_name: "Weather",
      name: "Morning",
      cron: "30 9 * * MON-FRI",
      timezone: "Europe/Berlin",
      input,
      missed: "skip",
      overlap: "skip",
      enabled: true,
      max_cost: null,
      approve: [],
      connectors: [],
      thread_id: null,
      expected_price: null,
      status: "active",
      paused_reason: null,
      last_due_at: null,
      last_run_id: null,
    });
    expect(made.id).toMatch(/^sch_/);
    const local = new Intl.DateTimeFormat("en-GB", {
      timeZone: "Europe/Berlin",
      weekday: "short",
      hour: "2-digit",
      minute: "2-digit",
    });
    expect(made.next_times).toHaveLength(5);
    for (const time of made.next_times) {
      expect(local.format(new Date(time))).toMatch(/^(Mon|Tue|Wed|Thu|Fri) 09:30$/);
      expect(new Date(time).getTime()).toBeGreaterThan(Date.now());
    }
    expect(await read(made.id)).toEqual(made);
    for (const path of ["/v1/schedules", `/v1/schedules?agent_id=${agentId}`, `/v1/agents/${agentId}/schedules`]) {
      const { schedules, total } = (await ask("GET", path)).body;
      expect(schedules[0], path).toEqual(made);
      expect(total).toBe(schedules.length);
    }
    expect((await ask("DELETE", `/v1/schedules/${made.id}`)).status).toBe(204);
    expect((await ask("GET", `/v1/schedules/${made.id}`)).status).toBe(404);
  });

  test.each([
    [{ cron: "*/10 * * * * *" }, "cron", "at most once a minute"],
    [{ cron: "0 25 * * *" }, "cron", '"25" is not valid for the hour'],
    [{ cron: "0 0 30 2 *" }, "cron", "never due"],
    [{ timezone: "Mars/Base" }, "timezone", "is not a time zone"],
    [{ input: { city: 5 } }, "input", ""],
    [{ input: { city: "x".repeat(300_000) } }, "input", "at most 262144 characters"],
    [{ approve: ["no_such_tool"] }, "approve", "is not the name of a tool"],
    [{ missed: "twice" }, "missed", ""],
    [{ name: "two\nlines" }, "name", "one line"],
    [{ thread_id: "a b" }, "thread_id", "letters"],
  ])("%# is refused with a sentence about its field", async (wrong, field, text) => {
    const json = { cron: "0 9 * * *", input, ...wrong };
    const answer = await ask("POST", `/v1/agents/${agentId}/schedules`, undefined, json);
    expect([answer.status, answer.body.error?.type], answer.text).toEqual([400, "invalid_input"]);
    const [{ loc, message }] = answer.body.error.details;
    expect(loc.slice(0, 2)).toEqual(["body", field]);
    expect(message).toContain(text);
    const schedule = await create(agentId, { input });
    const patched = await ask("PATCH", `/v1/schedules/${schedule.id}`, undefined, wrong);
    expect([patched.status, patched.body.error?.details[0].loc.slice(0, 2)]).toEqual([400, ["body", field]]);
    expect((await read(schedule.id)).updated_at).toBe(schedule.updated_at);
  });

  test("cannot be made for an agent that does not exist, or is not published", async () => {
    const draft = await ask("POST", "/v1/agents", undefined, {
      name: "Draft",
      goal: "x",
      tools: [],
      model: "admin/llm",
    });
    for (const [id, type] of [
      ["agt_01hzzzzzzzzzzzzzzzzzzzzzzz", "not_found"],
      [draft.body.id, "agent_not_published"],
    ]) {
      const answer = await ask("POST", `/v1/agents/${id}/schedules`, undefined, { cron: "0 9 * * *", input: {} });
      expect(answer.body.error.type).toBe(type);
    }
  });

  test("checks at its creation leave no run behind", async () => {
    const { total } = (await ask("GET", `/v1/agents/${agentId}/runs`)).body;
    const made = await create(agentId, { input });
    expect((await ask("GET", `/v1/agents/${agentId}/runs`)).body.total).toBe(total);
    expect(await runsOf(made.id)).toEqual([]);
  });
});

describe("at a due time", () => {
  test("a run is created with the schedule's input, and the schedule moves on", async () => {
    const made = await create(agentId, { cron: hourly(), input, max_cost: 0.5 });
    const due = await makeDue(made.id);
    await waitFor("the run", async () => (await runsOf(made.id)).length > 0);
    const after = await settled(made.id);
    expect(after.last_due_at).toBe(due.toISOString());
    expect(after.next_times).toEqual(made.next_times);
    const run = await t.ended(after.last_run_id);
    expect(run).toMatchObject({ status: "done", input, source: { type: "schedule", id: made.id } });
    expect(after).toMatchObject({ status: "active", last_skipped_at: null });
  });

  test("two nodes create one run for each of many schedules", async () => {
    const other = await startGantry({ beside: t.gantry });
    try {
      const made = await Promise.all(Array.from({ length: 20 }, () => create(agentId, { input })));
      const ids = made.map(({ id }) => id);
      await makeDue(ids);
      for (const id of ids) await settled(id);
      for (const id of ids) expect(await runsOf(id)).toHaveLength(1);
    } finally {
      await other.close();
    }
  });

  test("a disabled schedule creates no run; enabling it starts from the present", async () => {
    const made = await create(agentId, { cron: hourly(), input });
    expect(await change(made.id, { enabled: false })).toMatchObject({ status: "disabled", next_times: [] });
    const [row] = await t.gantry.database.sql`select look_at, next_at from schedules where id = ${made.id}`;
    expect(row).toEqual({ look_at: null, next_at: null });
    const again = await change(made.id, { enabled: true, cron: "0 0 1 1 *" });
    expect(again.status).toBe("active");
    expect(again.next_times[0]).toMatch(/-01-01T00:00:00/);
    expect(await runsOf(made.id)).toEqual([]);
  });
});

describe("due times that were missed", () => {
  test("are skipped, and the reason says which", async () => {
    const made = await create(agentId, { cron: hourly(), input });
    await makeDue(made.id, 3 * 3600 + 600);
    const after = await settled(made.id);
    expect(await runsOf(made.id)).toEqual([]);
    expect(after).toMatchObject({ status: "active", last_due_at: null });
    expect(after.skipped_reason).toMatch(/^The due times? from .* were missed\./);
    expect(new Date(after.last_skipped_at).getTime()).toBeLessThan(Date.now() - 5 * 60_000);
    expect(after.next_times).toEqual(made.next_times);
  });

  test("are made up for with one run, if the schedule says so", async () => {
    const made = await create(agentId, { cron: hourly(), missed: "once", input });
    await makeDue(made.id, 7 * 24 * 3600);
    const after = await settled(made.id);
    expect(await runsOf(made.id)).toHaveLength(1);
    // The run is that of the latest of them.
    expect(new Date(made.next_times[0]).getTime() - new Date(after.last_due_at).getTime()).toBe(3_600_000);
    expect(after.next_times).toEqual(made.next_times);
  });

  test("by less than five minutes are on time", async () => {
    const made = await create(agentId, { cron: "* * * * *", overlap: "queue", input });
    const due = await makeDue(made.id, 180);
    await waitFor("a run for each minute", async () => (await runsOf(made.id)).length >= 3);
    await settled(made.id);
    const [row] = await t.gantry.database.sql<[{ minutes: number }]>`
      select extract(epoch from date_trunc('minute', last_due_at) - ${due}::timestamptz)::int / 60 + 1 as minutes
      from schedules where id = ${made.id}`;
    expect(await runsOf(made.id)).toHaveLength(row.minutes);
  });
});

test("due times found by a clock far ahead are found again when the clock is right", async () => {
  const made = await create(agentId, { cron: hourly(), missed: "once", input });
  const { sql } = t.gantry.database;
  const moveTo = (ahead: string) => sql`
    update schedules set next_at = now() + ${ahead}::interval, look_at = now() + ${ahead}::interval,
      found_at = now() + ${ahead}::interval, upcoming = '{}' where id = ${made.id}`;
  // A small step back must not repeat due times.
  await moveTo("3 hours");
  await forgetFutureTimes(sql);
  expect((await read(made.id)).next_times).toEqual([]);
  await moveTo("1 year");
  expect(await forgetFutureTimes(sql)).toBe(1);
  expect((await settled(made.id)).next_times).toEqual(made.next_times);
  expect(await runsOf(made.id)).toEqual([]);
});

describe("while a run of the schedule is under way", () => {
  const hold = () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    t.llm.script = async () => {
      await held;
      return { text: "done" };
    };
    return release;
  };

  test("a due time is skipped and recorded", async () => {
    const release = hold();
    const made = await create(agentId, { cron: "0 0 1 1 *", input });
    const first = (await ask("POST", `/v1/schedules/${made.id}/run`)).body;
    expect(first).toMatchObject({ status: "pending", source: { type: "schedule", id: made.id } });
    const due = await makeDue(made.id);
    const after = await settled(made.id);
    expect(after).toMatchObject({
      status: "active",
      last_due_at: null,
      last_run_id: first.id,
      last_skipped_at: due.toISOString(),
      skipped_reason: "A run of this schedule was still under way.",
    });
    release();
    await t.ended(first.id);
    await makeDue(made.id);
    await settled(made.id);
    expect(await runsOf(made.id)).toHaveLength(2);
  });

  test("with overlap: queue the next run waits for it", async () => {
    const release = hold();
    const made = await create(agentId, { cron: "0 0 1 1 *", overlap: "queue", input });
    const first = (await ask("POST", `/v1/schedules/${made.id}/run`)).body;
    await waitFor("the first to start", () => t.llm.open > 0);
    await makeDue(made.id);
    const { last_run_id: second } = await settled(made.id);
    expect(second).not.toBe(first.id);
    expect((await ask("GET", `/v1/runs/${second}?wait=2`)).body.status).toBe("pending");
    release();
    const [one, two] = [await t.ended(first.id), await t.ended(second)];
    expect(one.completed_at <= two.completed_at).toBe(true);
  });
});

test("a run now is repeated by its Idempotency-Key, and works while the schedule is disabled", async () => {
  const made = await create(agentId, { enabled: false, input });
  const headers = { "idempotency-key": "now-1" };
  const [one, two] = [
    await t.gantry.call("POST", `/v1/schedules/${made.id}/run`, { headers }),
    await t.gantry.call("POST", `/v1/schedules/${made.id}/run`, { headers }),
  ];
  expect([one.status, two.status, two.body.id]).toEqual([201, 201, one.body.id]);
  expect(await runsOf(made.id)).toHaveLength(1);
  expect((await read(made.id)).last_run_id).toBe(one.body.id);
});
