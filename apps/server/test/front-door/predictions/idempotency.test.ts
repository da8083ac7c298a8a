import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, type GantryNode, startGantry } from "../../support/gantry.ts";
import { cogModel, createModels, object, text } from "../../support/models.ts";
import { type SlowCog, startSlowCog } from "../../support/slow-cog.ts";
import { waitFor } from "../../support/wait-for.ts";

let gantry: GantryNode;
let cog: SlowCog;

beforeAll(async () => {
  cog = await startSlowCog();
  gantry = await startGantry();
  const input = object({ prompt: text, paper: { ...text, format: "binary", "x-media": "file" } }, ["prompt"]);
  await createModels(gantry, { paid: cogModel(cog.url, { pricing: { per_request: 0.6 }, input }) });
});

afterAll(async () => {
  await gantry.close();
  await cog.close();
});

type Way = "" | "/async/";
type Form = Record<string, string | Blob>;

const small: Form = { prompt: "x" };
const large: Form = { prompt: "x", paper: new File([Buffer.alloc(100_000, "a")], "paper.txt") };
const send = (way: Way, key: string, idempotencyKey: string | undefined, form: Form = small) =>
  gantry.call("POST", `/api/v1/admin/paid/predict${way}`, {
    form,
    key,
    ...(idempotencyKey !== undefined && { headers: { "idempotency-key": idempotencyKey } }),
  });
const rateOf = ({ headers }: Answer) =>
  ["limit", "remaining", "reset"].map((name) => headers.get(`x-ratelimit-${name}`));

/** Sends a first request and lets it end. */
async function first(way: Way, key: string, idempotencyKey: string, form: Form = small): Promise<Answer> {
  const answer = send(way, key, idempotencyKey, form);
  await waitFor("the upstream call", () => cog.open === 1);
  cog.finishOne();
  const { status, body, ...rest } = await answer;
  expect(status, rest.text).toBe(200);
  await waitFor("its end to be written", async () => {
    const found = await gantry.database.sql`select 1 from ended_predictions where id = ${body.prediction_id}`;
    return found.length === 1;
  });
  return { status, body, ...rest };
}

async function newPlan(name: string, requestsPerMinute: number): Promise<string> {
  const json = { requests_per_minute: requestsPerMinute, parallel: null };
  const made = await gantry.call("PUT", `/api/v2/admin/plans/${name}`, { json });
  expect(made.status, made.text).toBe(201);
  return name;
}

describe.each<Way>(["", "/async/"])("a repeat of /predict%s", (way) => {
  const name = way === "" ? "sync" : "async";

  test("gets the first answer, whatever its size, without funds", async () => {
    const key = await gantry.newUser(`spender-${name}`, { credit: 1 });
    const answers = [await first(way, key, "k1"), await first(way, key, "k2", large)];
    expect((await gantry.call("GET", "/api/v2/me", { key })).body.balance).toBeCloseTo(-0.2);
    const startedBefore = cog.started;
    const repeats = [await send(way, key, "k1"), await send(way, key, "k2", large)];
    expect(repeats.map(({ status, body }) => ({ status, body }))).toEqual(
      answers.map(({ status, body }) => ({ status, body })),
    );
    for (const form of [small, large]) {
      expect((await send(way, key, "k3", form)).body).toEqual({ detail: "Insufficient funds", status_code: 403 });
    }
    // Another input with the same key is invalid, and funds are checked first.
    expect((await send(way, key, "k1", large)).status).toBe(403);
    expect(cog.started).toBe(startedBefore);
  });

  test("gets the first answer with rate-limit headers when the minute is used up, and does not count", async () => {
    const key = await gantry.newUser(`hasty-${name}`, { plan: await newPlan(`two-${name}`, 2) });
    const answers = [await first(way, key, "k1"), await first(way, key, "k2", large)];
    expect(answers.map((answer) => rateOf(answer).slice(0, 2))).toEqual([
      ["2", "1"],
      ["2", "0"],
    ]);
    for (const [idempotencyKey, form, answer] of [
      ["k1", small, answers[0]],
      ["k2", large, answers[1]],
    ] as const) {
      const repeat = await send(way, key, idempotencyKey, form);
      expect(repeat.status, repeat.text).toBe(200);
      expect(repeat.body).toEqual(answer?.body);
      const [limit, remaining, reset] = rateOf(repeat);
      expect([limit, remaining]).toEqual(["2", "0"]);
      expect(Number(reset)).toBeGreaterThan(0);
    }
    expect((await send(way, key, "k3")).status).toBe(429);
  });

  test("an invalid key, or one of another input, is refused after the limits and counts", async () => {
    const key = await gantry.newUser(`careless-${name}`, { plan: await newPlan(`three-${name}`, 3) });
    await first(way, key, "k1");
    const empty = await send(way, key, "");
    expect(empty.status).toBe(422);
    expect(empty.body.detail[0]).toMatchObject({ type: "value_error", loc: ["header", "idempotency-key"] });
    expect(rateOf(empty).slice(0, 2)).toEqual(["3", "1"]);
    const reused = await send(way, key, "k1", { prompt: "other" });
    expect(reused.body.detail[0].type).toBe("idempotency_key_reused");
    expect(rateOf(reused).slice(0, 2)).toEqual(["3", "0"]);
    for (const refused of [await send(way, key, ""), await send(way, key, "k1", { prompt: "other" })]) {
      expect(refused.body).toMatchObject({ status_code: 429, type: "rate_limit" });
      expect(rateOf(refused).slice(0, 2)).toEqual(["3", "0"]);
    }
  });
});

test("a key that was used on the other route is refused, whatever the fields", async () => {
  const key = await gantry.newUser("elsewhere");
  for (const [way, other] of [
    ["", "/async/"],
    ["/async/", ""],
  ] as const) {
    await first(way, key, `k${way}`);
    for (const form of [small, { prompt: "other" }]) {
      const refused = await send(other, key, `k${way}`, form);
      expect(refused.status).toBe(422);
      expect(refused.body.detail[0]).toMatchObject({
        type: "idempotency_key_reused",
        loc: ["header", "idempotency-key"],
        msg: "The Idempotency-Key was used before on another route of this model",
      });
    }
    const same = await send(way, key, `k${way}`, { prompt: "other" });
    expect(same.body.detail[0].msg).toBe("The Idempotency-Key was used before with other fields or files");
  }
});

test("a final failure keeps its key, a retryable one releases it", async () => {
  const key = await gantry.newUser("unlucky");
  const accepted = async () => (await send("/async/", key, "k1")).body.prediction_id as string;
  const itemOf = async (id: string) => {
    const path = `/api/v1/admin/paid/predict/async/result?request_id=${id}&wait=20`;
    return (await gantry.call("GET", path, { key })).body.inference_responses[0];
  };
  const id = await accepted();
  await waitFor("the upstream call", () => cog.open === 1);
  // Two workers died with it, and now the third.
  await gantry.database.sql`
    update live_predictions set holder = 'node_that_died', claim = claim + 1, deaths = 2 where id = ${id}`;
  const item = await itemOf(id);
  expect(item.infer_details.status).toBe(500);
  expect(item.response.detail[0]).toEqual({
    loc: ["body"],
    msg: expect.stringContaining("died three times"),
    type: "internal_server_error",
    url: expect.any(String),
  });
  expect(await accepted()).toBe(id);
  // As a row from before retryability was stored: then the error table decides.
  await gantry.database.sql`
    update ended_predictions set error = (error::jsonb #- '{0,retryable}')::json where id = ${id}`;
  const again = await accepted();
  expect(again).not.toBe(id);
  await gantry.call("POST", `/api/v1/admin/paid/predict/cancel?prediction_id=${again}`, { key });
  await waitFor("the upstream calls to be closed", () => cog.open === 0);
});

test("a repeat of a final failure is final, too", async () => {
  const key = await gantry.newUser("told-so");
  const { body } = await first("", key, "k1");
  const error = [{ type: "internal_server_error", loc: ["body"], msg: "Broken for good", retryable: false }];
  await gantry.database.sql`
    update ended_predictions set status = 500, output = null, error = ${JSON.stringify(error)}::text::json
    where id = ${body.prediction_id}`;
  const repeat = await send("", key, "k1");
  expect([repeat.status, repeat.headers.get("x-service-retryable")]).toEqual([500, "false"]);
  expect(repeat.body.detail).toEqual([
    { loc: ["body"], msg: "Broken for good", type: "internal_server_error", url: expect.any(String) },
  ]);
});

describe("a repeat that waits for the first request", () => {
  /** Sends both; the first runs, and the repeat waits for it. */
  async function sendTwice(key: string) {
    const running = send("", key, "k1");
    await waitFor("the upstream call", () => cog.open === 1);
    const [live] = await gantry.database.sql<{ id: string }[]>`select id from live_predictions`;
    const waiting = send("", key, "k1");
    await sleep(300);
    return { id: live?.id ?? "", running, waiting };
  }
  const loseNodeOf = (id: string) =>
    gantry.database.sql`update live_predictions set holder = 'node_that_died', claim = claim + 1 where id = ${id}`;

  test("takes over when the node of the first died", async () => {
    const { id, running, waiting } = await sendTwice(await gantry.newUser("bereft"));
    const startedBefore = cog.started;
    await loseNodeOf(id);
    await waitFor("the run of the repeat", () => cog.started === startedBefore + 1, 20_000);
    await running;
    await waitFor("the first to be given up", () => cog.open === 1);
    cog.finishOne();
    const { status, body, text: said } = await waiting;
    expect(status, said).toBe(200);
    expect(body.prediction_id).not.toBe(id);
  }, 40_000);

  test("gets a final error when the successor is lost too", async () => {
    const key = await gantry.newUser("bereft-twice");
    const { id, running, waiting } = await sendTwice(key);
    const other = send("", key, "k1");
    await sleep(300);
    await loseNodeOf(id);
    const next = async () => {
      const rows = await gantry.database.sql<{ id: string }[]>`select id from live_predictions where id <> ${id}`;
      return rows[0]?.id;
    };
    await waitFor("the run of one of them", async () => (await next()) !== undefined, 20_000);
    // The other repeat waits for it by then.
    await sleep(1_500);
    await loseNodeOf((await next()) ?? "");
    await running;
    const answers = await Promise.all([waiting, other]);
    const told = answers.find(({ body }) => String(body.detail[0].msg).endsWith("was lost. Try again."));
    expect([told?.status, told?.headers.get("x-service-retryable")]).toEqual([503, "true"]);
    await waitFor("the upstream calls to be closed", () => cog.open === 0);
  }, 60_000);

  test("is cancelled with it", async () => {
    const key = await gantry.newUser("undecided");
    const { id, running, waiting } = await sendTwice(key);
    const startedBefore = cog.started;
    await gantry.call("POST", `/api/v1/admin/paid/predict/cancel?prediction_id=${id}`, { key });
    expect([(await running).status, (await waiting).status, cog.started]).toEqual([499, 499, startedBefore]);
  });
});
