import { newId } from "@gantry/wire";
import { beforeAll, describe, expect, test } from "vitest";
import { gate, useRunsPlatform } from "../../support/runs-platform.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform();
const { makeAgent, newUser, run, start, ended } = platform;
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);
const text = { type: "string" };
const db = () => platform.gantry.database.sql;

beforeAll(async () => {
  const input = { type: "object", properties: { prompt: text, max_tokens: { type: "integer" } }, required: ["prompt"] };
  const plain = { input, output: { type: "object", properties: { output: text } }, kind: "other" };
  const unlimited = { context_window: undefined };
  await platform.makeModel("cent", { ...plain, ...unlimited, pricing: { per_request: 0.01 } });
  await platform.makeModel("tokens", { ...plain, ...unlimited, pricing: { per_million_input_tokens: 1 } });
  // Its input is counted for limits of tokens only.
  await platform.makeModel("free", { input, pricing: {}, ...unlimited });
});

type Limits = Partial<Record<"monthly_limit" | "daily_limit" | "tokens_per_minute", number | null>>;

const keysOf = async (key: string) => (await call("GET", "/api/v2/keys", { key })).body.results;
/** A key with limits and one without, of the same user. */
async function limitedUser(limits: Limits) {
  const { name, key: whole } = await newUser();
  const { key, id } = (await call("POST", "/api/v2/keys", { key: whole, json: limits })).body;
  return { name, whole, key, id };
}
const change = (whole: string, id: string, json: object) => call("PATCH", `/api/v2/keys/${id}`, { key: whole, json });
const predict = (key: string, model = "cent", form: Record<string, string> = {}) =>
  call("POST", `/api/v1/admin/${model}/predict`, { key, form: { prompt: "say hi", ...form } });
const statusOf = async (key: string) => (await predict(key)).status;

describe("a daily budget", () => {
  test("is shown, refuses what does not fit, and is new on the next day", async () => {
    const { whole, key, id } = await limitedUser({ daily_limit: 0.02 });
    expect([await statusOf(key), await statusOf(key)]).toEqual([200, 200]);
    const refused = await predict(key);
    expect([refused.status, refused.body.detail]).toEqual([403, "Insufficient funds"]);
    expect(await keysOf(whole)).toContainEqual(
      expect.objectContaining({ id, daily_limit: 0.02, spent_today: 0.02, monthly_limit: null, spent: null }),
    );
    await db()`update key_days set day = day - 1 where key_id = ${id}`;
    expect(await statusOf(key)).toBe(200);
  });

  test("of a key and of a month: the lower one refuses", async () => {
    const { whole, key, id } = await limitedUser({ daily_limit: 0.05, monthly_limit: 0.01 });
    expect([await statusOf(key), await statusOf(key)]).toEqual([200, 403]);
    expect((await change(whole, id, { monthly_limit: null, daily_limit: 0.02 })).status).toBe(200);
    expect([await statusOf(key), await statusOf(key)]).toEqual([200, 403]);
  });

  test("covers the price of another user's agent", async () => {
    const seller = await newUser();
    const agent = await makeAgent(
      { visibility: "public", goal: "Say hello", model: "gantry/rules", pricing: { per_run: 0.25 } },
      seller.key,
    );
    const { key } = await limitedUser({ daily_limit: 0.4, monthly_limit: 100 });
    expect((await run(agent, {}, { key })).body.status).toBe("done");
    const refused = await run(agent, {}, { key });
    expect(refused.status).toBe(403);
    expect(refused.body.error.message).toBe(
      "The API key may still spend $0.15 today; this run costs $0.25. Use another key or choose a cheaper agent.",
    );
  });
});

describe("changing a key", () => {
  test("a new budget includes what the key has spent of the period", async () => {
    const { whole, key, id } = await limitedUser({});
    expect([await statusOf(key), await statusOf(key)]).toEqual([200, 200]);
    const changed = await change(whole, id, { daily_limit: 0.03, monthly_limit: 0.1, name: "capped" });
    expect(changed.body).toMatchObject({ name: "capped", spent_today: 0.02, spent: 0.02, models: null });
    expect([await statusOf(key), await statusOf(key)]).toEqual([200, 403]);
  });

  test("work in progress releases what it was counted in, and nothing else", async () => {
    const release = gate();
    platform.llm.script = () => release.promise.then(() => ({ text: "ok" }));
    const { whole, key, id } = await limitedUser({ daily_limit: 0.02 });
    const running = predict(key);
    await waitFor("the model to be called", () => platform.llm.open === 1);
    await change(whole, id, { daily_limit: null, monthly_limit: 0.02 });
    release.open();
    expect((await running).status).toBe(200);
    const [day] = await db()`select spent_micros, reserved_micros from key_days where key_id = ${id}`;
    expect(day).toEqual({ spent_micros: 10_000, reserved_micros: 0 });
    const [month] = await db()`select spent_micros, reserved_micros from key_months where key_id = ${id}`;
    expect(month).toEqual({ spent_micros: 0, reserved_micros: 0 });
  });

  test("applies to the next request, and null removes limits", async () => {
    const { whole, key, id } = await limitedUser({ daily_limit: 0, tokens_per_minute: 5 });
    expect(await statusOf(key)).toBe(403);
    expect((await change(whole, id, { daily_limit: null })).body).toMatchObject({ spent_today: null });
    expect(await statusOf(key)).toBe(200);
    const { body } = await change(whole, id, { models: ["admin/cent"], keep_inputs: false, tokens_per_minute: null });
    expect(body).toMatchObject({ models: ["admin/cent"], keep_inputs: false, tokens_per_minute: null });
    expect((await predict(key, "free")).status).toBe(403);
  });

  test("is refused to keys that could widen themselves", async () => {
    const { name, whole, id } = await limitedUser({ daily_limit: 1 });
    const by = async (json: object) => (await call("POST", "/api/v2/keys", { key: whole, json })).body;
    for (const limits of [{ daily_limit: 1 }, { tokens_per_minute: 9 }, { models: ["admin/cent"] }]) {
      const limited = await by(limits);
      const refused = await change(limited.key, limited.id, { daily_limit: null });
      expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("cannot change keys")]);
    }
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    const brief = await by({ expires_at });
    expect((await change(brief.key, brief.id, { expires_at: null })).status).toBe(403);
    expect((await change(brief.key, id, { name: "x" })).status).toBe(403);
    expect((await change(brief.key, brief.id, { name: "still brief" })).status).toBe(200);
    const stranger = await newUser();
    expect((await change(stranger.key, id, { name: "mine" })).status).toBe(404);
    const path = `/api/v2/admin/users/${name}/keys/${id}`;
    expect((await call("PATCH", path, { key: stranger.key, json: { daily_limit: 2 } })).status).toBe(403);
    expect((await call("PATCH", path, { json: { daily_limit: 2 } })).body).toMatchObject({ id, daily_limit: 2 });
  });

  test.each([
    [{}, []],
    [{ daily_limit: -1 }, ["daily_limit"]],
    [{ daily_limit: 0.0000001 }, ["daily_limit"]],
    [{ tokens_per_minute: 0 }, ["tokens_per_minute"]],
    [{ tokens_per_minute: 1.5 }, ["tokens_per_minute"]],
    [{ colour: "red" }, ["colour"]],
  ])("422: %j", async (json, loc) => {
    const { whole, id } = await limitedUser({});
    const refused = await change(whole, id, json);
    expect([refused.status, refused.body.detail[0].loc]).toEqual([422, ["body", ...loc]]);
  });
});

describe("tokens a minute", () => {
  /** "say hi" is two tokens: a quarter more plus 64, and 10 for the answer. */
  const reserved = 77;
  const form = { max_tokens: "10" };
  const windowOf = async (id: string) =>
    (await db()<{ n: number }[]>`select tokens_in(window_tokens)::int as n from key_tokens where key_id = ${id}`)[0]?.n;

  test("are held until the end, and corrected to what was used", async () => {
    const release = gate();
    platform.llm.script = () => release.promise.then(() => ({ text: "ok", usage: { in: 3, out: 2 } }));
    const { key, id } = await limitedUser({ tokens_per_minute: 100 });
    const running = predict(key, "tokens", form);
    await waitFor("the model to be called", () => platform.llm.open === 1);
    expect(await windowOf(id)).toBe(reserved);
    const refused = await predict(key, "tokens", form);
    expect([refused.status, refused.body]).toMatchObject([429, { type: "rate_limit" }]);
    expect(refused.body.detail).toBe("Too many tokens: the API key allows 100 a minute");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(30);
    expect(refused.headers.get("x-service-retryable")).toBe("true");
    const other = predict(key, "cent");
    await waitFor("a model without tokens to be called", () => platform.llm.open === 2);
    release.open();
    expect([(await running).status, (await other).status]).toEqual([200, 200]);
    await waitFor("the correction", async () => ((await windowOf(id)) ?? 0) < 30);
    expect((await predict(key, "tokens", form)).status).toBe(200);
  });

  test("are refused for good if the request is larger than the limit", async () => {
    const { key } = await limitedUser({ tokens_per_minute: 1_000 });
    const refused = await predict(key, "tokens", { max_tokens: "2000" });
    expect(refused.status).toBe(422);
    expect(refused.body.detail[0].msg).toBe(
      "The request may use 2,067 tokens; the API key allows 1,000 a minute. Send less text, or set a lower limit for the answer.",
    );
    expect(refused.headers.get("retry-after")).toBeNull();
    const long = { ...form, prompt: "word ".repeat(1_000) };
    expect((await predict(key, "tokens", long)).status).toBe(422);
    const streamed = await call("POST", "/api/v1/admin/free/predict/stream/", { key, form: long });
    expect(streamed.status).toBe(422);
  });

  test("answer in the words of each protocol", async () => {
    const { key, id } = await limitedUser({ tokens_per_minute: 300 });
    const messages = [{ role: "user", content: "say hi" }];
    const chat = (tokens: number) =>
      call("POST", "/v1/chat/completions", {
        key,
        json: { model: "admin/free", messages, max_tokens: tokens, stream: true },
      });
    expect((await chat(10)).status).toBe(200);
    expect((await chat(5_000)).status).toBe(400);
    await db()`
      update key_tokens set window_tokens = array[(extract(epoch from clock_timestamp()))::bigint, 290] where key_id = ${id}`;
    const openai = await chat(10);
    expect([openai.status, openai.body.error.code]).toEqual([429, "rate_limit_exceeded"]);
    expect(Number(openai.headers.get("retry-after"))).toBeGreaterThan(30);
    const anthropic = await call("POST", "/v1/messages", {
      key,
      json: { model: "admin/free", messages, max_tokens: 10 },
    });
    expect([anthropic.status, anthropic.body.error.type]).toEqual([429, "rate_limit_error"]);
    const queued = await call("POST", "/api/v1/admin/free/predict/async/", { key, form: { prompt: "hi", ...form } });
    expect(queued.status).toBe(429);
    await db()`update key_tokens set window_tokens[1] = window_tokens[1] - 61 where key_id = ${id}`;
    expect((await chat(10)).status).toBe(200);
  });

  test("let model calls of agents wait", async () => {
    const agent = await makeAgent({ goal: "Say hello", model: "admin/free", visibility: "public" });
    const { key, id } = await limitedUser({ tokens_per_minute: 20_000 });
    await db()`
      insert into key_tokens values (${id}, array[(extract(epoch from clock_timestamp()))::bigint - 57, 20000])`;
    const started = await start(agent, {}, { key });
    expect((await ended(started, key)).status).toBe("done");
    expect(await windowOf(id)).toBeGreaterThan(0);
  });
});

describe("a key with a parent", () => {
  /** The budget of a member, and two keys that the member uses. */
  async function seat(limits: { day?: number; tokens?: number }) {
    const { key: first, name } = await newUser();
    // Not created by the first one, which the server would remember.
    const second = (await call("POST", `/api/v2/admin/users/${name}/keys`, { json: {} })).body.key as string;
    const owner = db()`(select id from users where username = ${name})`;
    const id = newId("key");
    await db()`
      insert into api_keys (id, user_id, public, secret_hash, name, created_at, daily_limit_micros, tokens_per_minute)
      values (${id}, ${owner}, ${name.padStart(12, "0")}, ${Buffer.alloc(32)}, 'seat', now(), ${limits.day ?? null},
        ${limits.tokens ?? null})`;
    // A parent is chosen when a key is created, so new rows take over the secrets.
    await db()`
      with old as (
        update api_keys set public = reverse(public), revoked_at = now() where user_id = ${owner} and id <> ${id}
        returning api_keys.*
      )
      insert into api_keys (id, user_id, parent_id, public, secret_hash, name, created_at)
      select overlay(id placing 'zzz' from 5), user_id, ${id}, reverse(public), secret_hash, name, now() from old`;
    return { id, first, second, name };
  }

  test("counts towards the budget of the parent, whichever key spends", async () => {
    const { id, first, second } = await seat({ day: 30_000 });
    expect([await statusOf(first), await statusOf(second), await statusOf(first), await statusOf(second)]).toEqual([
      200, 200, 200, 403,
    ]);
    const [day] = await db()`select spent_micros, reserved_micros from key_days where key_id = ${id}`;
    expect(day).toEqual({ spent_micros: 30_000, reserved_micros: 0 });
  });

  test("shares tokens, cannot manage while the parent has a limit, and stops with it", async () => {
    const { id, first, second, name } = await seat({ tokens: 100 });
    const reached = { max_tokens: "10" };
    await db()`
      insert into key_tokens values (${id}, array[(extract(epoch from clock_timestamp()))::bigint, 50])`;
    expect([
      (await predict(first, "tokens", reached)).status,
      (await predict(second, "tokens", reached)).status,
    ]).toEqual([429, 429]);
    expect((await call("POST", "/api/v2/keys", { key: first, json: {} })).status).toBe(403);
    const unlimited = { json: { tokens_per_minute: null } };
    expect((await call("PATCH", `/api/v2/admin/users/${name}/keys/${id}`, unlimited)).status).toBe(200);
    expect((await predict(first, "tokens", reached)).status).toBe(200);
    const child = (await call("POST", "/api/v2/keys", { key: first, json: {} })).body;
    expect(await db()`select parent_id from api_keys where id = ${child.id}`).toEqual([{ parent_id: id }]);
    expect((await call("DELETE", `/api/v2/admin/users/${name}/keys/${id}`)).status).toBe(204);
    expect((await predict(second, "tokens", reached)).status).toBe(401);
  });

  test("has one level, and keeps its parent", async () => {
    const { id } = await seat({});
    const copy = (parent: string) => db()`
      insert into api_keys (id, user_id, parent_id, public, secret_hash, name, created_at)
      select 'key_grandchild', user_id, ${parent}, 'gggggggggggg', secret_hash, '', now() from api_keys where id = ${id}`;
    const [child] = await db()<{ id: string }[]>`select id from api_keys where parent_id = ${id} limit 1`;
    await expect(copy(child?.id ?? "")).rejects.toThrow("needs a parent of the same user");
    await expect(db()`update api_keys set parent_id = null where id = ${child?.id ?? ""}`).rejects.toThrow(
      "cannot change",
    );
  });
});
