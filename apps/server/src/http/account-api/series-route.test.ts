import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AccountsUnderTest, accountsUnderTest, operatorKey as admin } from "../../../test/support/account-api.ts";
import { writePast } from "../../features/billing/books.fixture.ts";
import { insertSample } from "../../features/series/samples.ts";

let site: AccountsUnderTest;
let key: string;
let confined: { id: string; key: string };
let userId: string;

const get = (query: string, presented = key) => site.call("GET", `/api/v2/series?${query}`, { key: presented });
const january = "from_date=2026-01-05T10:20:00Z&to_date=2026-01-05T13:00:00Z";

beforeAll(async () => {
  site = await accountsUnderTest();
  key = await site.newUser("ursula");
  await site.newUser("otto");
  userId = (await site.call("GET", "/api/v2/me", { key })).body.id;
  confined = (await site.call("POST", "/api/v2/keys", { key, body: { name: "app", models: ["gantry/image"] } })).body;
  await writePast(site.database, [
    { userId, at: "2026-01-05T10:15:00Z", price: 30_000, model: "gantry/image", keyId: confined.id },
    { userId, at: "2026-01-05T10:59:59.999999Z", price: 1, model: "gantry/image", keyId: "key_gone" },
    { userId, at: "2026-01-05T12:00:00Z", price: 500, model: "gantry/text", route: "stream", keyId: "key_gone" },
    { userId, at: "2026-01-05T12:30:00Z", status: 502, model: "gantry/text" },
    { userId, at: "2026-01-05T13:00:00Z", price: 7, model: "gantry/text" },
  ]);
});
afterAll(() => site.close());

describe("GET /api/v2/series", () => {
  it("200: steps in UTC, from the start of the first one to before to_date", async () => {
    const answer = await get(`metric=spend&${january}`);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({ metric: "spend", unit: "dollars", step: "minute" });
    expect((await get(`metric=spend&step=hour&${january}`)).body).toEqual({
      metric: "spend",
      unit: "dollars",
      step: "hour",
      group_by: "none",
      from_date: "2026-01-05T10:00:00.000Z",
      to_date: "2026-01-05T13:00:00.000Z",
      times: ["2026-01-05T10:00:00.000Z", "2026-01-05T11:00:00.000Z", "2026-01-05T12:00:00.000Z"],
      total: 0.030501,
      series: [{ name: "spend", id: null, values: [0.030001, 0, 0.0005], total: 0.030501 }],
    });
  });

  it("200: by model, key, mode and status", async () => {
    const lines = async (query: string) =>
      (await get(`step=hour&${january}&${query}`)).body.series.map(({ name, id, values }: Record<string, unknown>) => [
        name,
        id,
        values,
      ]);
    expect(await lines("metric=spend&group_by=model")).toEqual([
      ["gantry/image", null, [0.030001, 0, 0]],
      ["gantry/text", null, [0, 0, 0.0005]],
    ]);
    expect(await lines("metric=requests&group_by=key")).toEqual([
      ["key_gone", "key_gone", [1, 0, 1]],
      ["", null, [0, 0, 1]],
      ["app", confined.id, [1, 0, 0]],
    ]);
    expect(await lines("metric=requests&group_by=status")).toEqual([
      ["succeeded", null, [2, 0, 1]],
      ["failed", null, [0, 0, 1]],
    ]);
    expect(await lines("metric=errors&group_by=mode")).toEqual([
      ["sync", null, [0, 0, 1]],
      ["stream", null, [0, 0, 0]],
    ]);
    expect(await lines("metric=requests&model=gantry/text&mode=stream")).toEqual([["requests", null, [0, 0, 1]]]);
    expect(await lines(`metric=requests&key_id=${confined.id}`)).toEqual([["requests", null, [1, 0, 0]]]);
  });

  it("200: without dates, the last 24 hours up to now", async () => {
    const { body } = await get("metric=requests");
    expect([body.step, body.times.length, body.total]).toEqual(["hour", 25, 0]);
    expect(Date.parse(body.to_date)).toBeGreaterThan(Date.now() - 60_000);
  });

  it("200: a confined key sees only its own, also with the id of another key", async () => {
    expect((await get(`metric=spend&step=hour&${january}`, confined.key)).body.total).toBe(0.03);
    expect((await get(`metric=spend&step=hour&key_id=key_gone&${january}`, confined.key)).body.total).toBe(0);
  });

  it("admins read other users and the service; others do not", async () => {
    const query = `metric=spend&step=hour&${january}`;
    expect((await get(`${query}&username=ursula`, admin)).body.total).toBe(0.030501);
    expect((await get(`${query}&scope=service&group_by=model`, admin)).body.series).toHaveLength(2);
    expect((await get(`${query}&username=unknown`, admin)).status).toBe(404);
    expect((await get(`${query}&username=otto`)).status).toBe(403);
    expect((await get(`${query}&scope=service`)).status).toBe(403);
    expect((await get(`${query}&scope=service`, confined.key)).status).toBe(403);
    expect((await get("metric=queue&scope=service")).status).toBe(403);
  });

  it("200: samples of the load, once a minute", async () => {
    const { sql } = site.database;
    await Promise.all([insertSample(sql), insertSample(sql)]);
    await sql`
      insert into service_samples values ('2026-01-05T10:01:00Z', 4, 1, 2), ('2026-01-05T10:02:00Z', 0, 1, 1),
        ('2026-01-05T12:30:00Z', 9, 2, 2)`;
    const lines = async (metric: string, step: string) =>
      (await get(`metric=${metric}&scope=service&step=${step}&${january}`, admin)).body.series.map(
        ({ name, values }: Record<string, unknown>) => [name, values],
      );
    expect(await lines("queue", "hour")).toEqual([
      ["average", [2, null, 9]],
      ["peak", [4, null, 9]],
    ]);
    expect(await lines("nodes", "hour")).toEqual([
      ["average", [1.5, null, 2]],
      ["lowest", [1, null, 2]],
    ]);
    const minutes = await lines("running", "minute");
    expect([minutes.length, minutes[0][0], minutes[0][1].filter((one: unknown) => one !== null)]).toEqual([
      1,
      "running",
      [2],
    ]);
    const [{ n }] = await sql<[{ n: number }]>`select count(*)::int as n from service_samples where at > '2026-01-06'`;
    expect(n).toBeLessThanOrEqual(2);
  });

  it.each([
    ["", "missing", "metric"],
    ["metric=money", "one_of", "metric"],
    ["metric=spend&step=week", "one_of", "step"],
    ["metric=spend&group_by=user", "one_of", "group_by"],
    ["metric=spend&from_date=yesterday", "datetime_parsing", "from_date"],
    ["metric=spend&from_date=2026-01-02T00:00:00&to_date=2026-01-02T00:00:00", "value_error", "from_date"],
    ["metric=spend&step=minute&from_date=2026-01-01T00:00:00&to_date=2026-01-02T00:00:00", "value_error", "step"],
    ["metric=spend&step=hour&from_date=2026-01-01T00:00:00&to_date=2026-02-03T00:00:00", "value_error", "step"],
    ["metric=spend&from_date=2020-01-01T00:00:00", "value_error", "step"],
    ["metric=spend&group_by=key&from_date=2026-01-01T00:00:00&to_date=2026-03-01T00:00:00", "value_error", "from_date"],
    ["metric=spend&models=a", "extra_forbidden", "models"],
    ["metric=nodes", "value_error", "scope"],
  ])("422: ?%s", async (query, type, name) => {
    const refused = await get(query);
    expect(refused.status, refused.text).toBe(422);
    expect(refused.body.detail).toMatchObject([{ type, loc: ["query", name] }]);
  });

  it.each([
    ["group_by=key", "group_by"],
    ["group_by=status", "group_by"],
    ["key_id=key_1", "key_id"],
    ["mode=sync", "mode"],
    ["username=otto", "username"],
    ["step=minute&from_date=2026-01-05T10:00:00Z&to_date=2026-01-05T11:00:00Z", "step"],
  ])("422: the service with %s", async (query, name) => {
    const refused = await get(`metric=spend&scope=service&${query}`, admin);
    expect(refused.status, refused.text).toBe(422);
    expect(refused.body.detail).toMatchObject([{ type: "value_error", loc: ["query", name] }]);
  });
});
