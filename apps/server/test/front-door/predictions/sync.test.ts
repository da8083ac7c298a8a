import { setTimeout as sleep } from "node:timers/promises";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { cogModel, createModels, object } from "../../support/models.ts";
import { type SlowCog, startSlowCog } from "../../support/slow-cog.ts";
import { waitFor } from "../../support/wait-for.ts";

let gantry: GantryNode;
let cog: SlowCog;

const manifest = (change: object = {}) => cogModel(cog.url, { capacity: 2, ...change });

beforeAll(async () => {
  cog = await startSlowCog();
  gantry = await startGantry();
  await createModels(gantry, {
    slow: manifest(),
    short: manifest({ timeout_seconds: 1 }),
    inactive: manifest({ capacity: 0 }),
    queue: manifest({ capacity: 1, max_queue_seconds: 1 }),
    one: manifest({ capacity: 1 }),
    private: manifest({ visibility: "private" }),
    count: manifest({ pricing: { per_request: 1 }, output: object({ output: { type: "integer" } }) }),
  });
});

afterAll(async () => {
  await gantry.close();
  await cog.close();
});

const predict = (model: string, form: Record<string, string | Blob>, options: object = {}) =>
  gantry.call("POST", `/api/v1/${model}/predict`, { form, ...options });

describe("a synchronous prediction", () => {
  test("returns the output with a link, and stores the image as the caller's file", async () => {
    const answer = await predict("gantry/image", { prompt: "three drones above the sea at dawn", size: "1280x720" });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toEqual({
      prediction_id: expect.stringMatching(/^pred_[0-9a-z]{26}$/),
      status: 200,
      output_data: { image: expect.stringMatching(/^s3:\/\/gantry\/outputs\//) },
      inference_time: expect.any(Number),
      files: { image: { url: expect.any(String), method: "GET", file_input: null } },
    });
    const picture = await fetch(answer.body.files.image.url);
    expect(picture.status).toBe(200);
    expect(await sharp(await picture.bytes()).metadata()).toMatchObject({ width: 1280, height: 720 });
    const query = new URLSearchParams({ s3_path_to_sign: answer.body.output_data.image });
    const signed = await gantry.call("GET", `/api/v1/gantry/image/download_s3_url?${query}`);
    expect(signed.status).toBe(200);
    expect(new URL(signed.body.url).searchParams.get("Expires")).toBe("86400");
    expect((await fetch(signed.body.url)).status).toBe(200);
  });

  test("an output of the wrong type is an upstream error without a charge", async () => {
    const { balance } = (await gantry.call("GET", "/api/v2/me")).body;
    const call = predict("admin/count", { prompt: "x" });
    await waitFor("the call", () => cog.open === 1);
    cog.finishOne();
    const answer = await call;
    expect([answer.status, answer.body.detail[0].type]).toEqual([502, "downstream_service_error"]);
    expect((await gantry.call("GET", "/api/v2/me")).body).toMatchObject({ balance, reserved: 0 });
  });

  test("a trailing slash does not matter, and every answer has a request id", async () => {
    const answer = await gantry.call("POST", "/api/v1/gantry/image/predict/", { form: {} });
    expect(answer.status).toBe(422);
    expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
  });

  test("an inline image, an uploaded one and a data URI are accepted", async () => {
    const png = await sharp({ create: { width: 64, height: 64, channels: 3, background: "#ff0000" } })
      .png()
      .toBuffer();
    const uploaded = await gantry.call("POST", "/api/v1/gantry/image/upload_file", {
      form: { file: new File([png], "red.png") },
    });
    expect(uploaded.status, uploaded.text).toBe(200);
    const answer = await predict("gantry/image", {
      prompt: "a quiet harbour",
      size: "1280x720",
      image: new File([png], "red.png", { type: "image/png" }),
      image1: uploaded.body.file_input.s3_path,
      i_image2: `data:image/png;base64,${png.toString("base64")}`,
    });
    expect(answer.status, answer.text).toBe(200);
  });

  test.each([
    ["JSON", { json: { prompt: "x" } }, "application/json"],
    ["nothing", {}, null],
  ])("a body of %s is 422 Field required", async (_what, options, given) => {
    const answer = await gantry.call("POST", "/api/v1/gantry/image/predict", options);
    expect(answer.status).toBe(422);
    const ctx = { expected_content_type: "multipart/form-data", given };
    expect(answer.body.detail).toEqual([
      {
        loc: ["body", "prompt"],
        msg: "Field required",
        type: "missing",
        url: `${gantry.url}/docs/errors#missing`,
        ctx,
      },
    ]);
    expect(answer.headers.get("x-service-retryable")).toBe("false");
  });

  test("all faults are reported at once, and their links work", async () => {
    const answer = await predict("gantry/image", {
      size: "9x9",
      watermark: "maybe",
      colour: "red",
      image: "no address",
    });
    expect(answer.status).toBe(422);
    const types = answer.body.detail.map((one: { loc: string[]; type: string }) => `${one.loc.join(".")} ${one.type}`);
    expect(types.sort()).toEqual([
      "body.colour extra_forbidden",
      "body.image file_download_error",
      "body.prompt missing",
      "body.size one_of",
      "body.watermark bool_parsing",
    ]);
    const page = await fetch(answer.body.detail[0].url);
    const [, type] = answer.body.detail[0].url.split("#");
    expect(await page.text()).toContain(`id="${type}"`);
  });

  test("a refused prompt is a content policy violation", async () => {
    const answer = await predict("gantry/image", { prompt: "gore and mutilation, dismembered corpse" });
    expect(answer.status).toBe(422);
    expect(answer.body.detail[0]).toMatchObject({ type: "content_policy_violation", loc: ["body", "prompt"] });
  });

  test("a streaming-only model answers 421 inside a 200", async () => {
    const answer = await predict("gantry/text", { prompt: "hello" });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ detail: expect.stringContaining("/predict/stream/"), status_code: 421 });
  });
});

describe("refusals in order", () => {
  test("401 without a key and with a wrong one, on every route", async () => {
    for (const key of ["", "gk_000000000000_wrong"]) {
      const answer = await predict("unknown/nothing", { prompt: "x" }, { key });
      expect(answer.status).toBe(401);
      expect(answer.body).toEqual({ error: { code: "unauthorized", message: expect.any(String) } });
      expect(answer.headers.has("x-service-retryable")).toBe(false);
    }
  });

  test("404 Project not found", async () => {
    const answer = await predict("admin/nothing", { prompt: "x" });
    expect(answer.body).toEqual({ detail: "Project not found", status_code: 404 });
    expect(answer.status).toBe(404);
  });

  test("403 for a private model of another, also outside the key's list", async () => {
    const other = await gantry.newUser("outsider");
    for (const key of [other, await gantry.newUser("confined", { key: { models: ["admin/slow"] } })]) {
      const answer = await predict("admin/private", { prompt: "x" }, { key });
      expect(answer.body).toEqual({ detail: "API key does not have access to the project", status_code: 403 });
    }
  });

  test("403 Project is not active", async () => {
    const answer = await predict("admin/inactive", { prompt: "x" });
    expect(answer.body).toEqual({ detail: "Project is not active", status_code: 403 });
  });

  test("403 Insufficient funds comes before 422, and once the wallet is below zero", async () => {
    const key = await gantry.newUser("poor", { credit: -0.000001 });
    const answer = await predict("gantry/image", {}, { key });
    expect(answer.body).toEqual({ detail: "Insufficient funds", status_code: 403 });
  });

  test("405 names what is allowed", async () => {
    const answer = await gantry.call("GET", "/api/v1/gantry/image/predict");
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe("POST");
  });
});

describe("a prediction that does not end", () => {
  test("is ended by the time limit with 504, and the upstream call with it", async () => {
    const answer = await predict("admin/short", { prompt: "x" });
    expect(answer.status).toBe(504);
    expect(answer.body.detail[0]).toMatchObject({ type: "generation_timeout", loc: ["body"] });
    expect(answer.headers.get("x-service-retryable")).toBe("true");
    await waitFor("the upstream call to be closed", () => cog.open === 0);
  });

  test("stops when its client disconnects, and is recorded as cancelled", async () => {
    const leaving = new AbortController();
    const call = predict("admin/slow", { prompt: "x" }, { signal: leaving.signal });
    await waitFor("the upstream call", () => cog.open === 1);
    leaving.abort();
    await expect(call).rejects.toThrow();
    await waitFor("the upstream call to be closed", () => cog.open === 0);
    await waitFor("the end to be written", async () => (await endedAs(499)) > 0);
  });

  const endedAs = async (status: number) =>
    (
      await gantry.database.sql<{ n: number }[]>`select count(*) as n from ended_predictions where status = ${status}`
    )[0]?.n ?? 0;
});

describe("capacity", () => {
  test("at most the capacity runs at once; the others wait and all end", async () => {
    const startedBefore = cog.started;
    const calls = Array.from({ length: 7 }, () => predict("admin/slow", { prompt: "x" }));
    await waitFor("two upstream calls", () => cog.open === 2);
    await sleep(100);
    expect(cog.open).toBe(2);
    for (let ended = 0; ended < 7; ended++) {
      await waitFor("the next upstream call", () => cog.open > 0);
      expect(cog.open).toBeLessThanOrEqual(2);
      cog.finishOne();
    }
    expect((await Promise.all(calls)).map((answer) => answer.status)).toEqual(Array(7).fill(200));
    expect(cog.started - startedBefore).toBe(7);
  });

  test("capacity is enforced over two nodes, and a slot freed on one is used on the other", async () => {
    const second = await startGantry({ beside: gantry });
    try {
      const first = predict("admin/one", { prompt: "x" });
      await waitFor("the first upstream call", () => cog.open === 1);
      const other = second.call("POST", "/api/v1/admin/one/predict", { form: { prompt: "y" } });
      await sleep(200);
      expect(cog.open).toBe(1);
      cog.finishOne();
      expect((await first).status).toBe(200);
      await waitFor("the second upstream call", () => cog.open === 1);
      cog.finishOne();
      expect((await other).status).toBe(200);
    } finally {
      await second.close();
    }
  });

  test("waiting longer than the model's queue limit is 504", async () => {
    const first = predict("admin/queue", { prompt: "x" });
    await waitFor("the first upstream call", () => cog.open === 1);
    const second = await predict("admin/queue", { prompt: "y" });
    expect(second.status).toBe(504);
    cog.finishOne();
    expect((await first).status).toBe(200);
  });

  test("a disconnect while waiting leaves the queue", async () => {
    const first = predict("admin/one", { prompt: "x" });
    await waitFor("the first upstream call", () => cog.open === 1);
    const leaving = new AbortController();
    const second = predict("admin/one", { prompt: "y" }, { signal: leaving.signal });
    await sleep(100);
    leaving.abort();
    await expect(second).rejects.toThrow();
    cog.finishOne();
    expect((await first).status).toBe(200);
    await waitFor(
      "nothing to be live",
      async () => (await gantry.database.sql`select 1 from live_predictions`).length === 0,
    );
    const [slots] = await gantry.database.sql`
      select coalesce(sum(running), 0)::int as running, coalesce(sum(waiting), 0)::int as waiting from model_slots`;
    expect(slots).toEqual({ running: 0, waiting: 0 });
  });

  test("raising the capacity starts waiting predictions", async () => {
    const calls = Array.from({ length: 3 }, () => predict("admin/one", { prompt: "x" }));
    await waitFor("the first upstream call", () => cog.open === 1);
    await gantry.call("PATCH", "/api/v1/admin/one", { json: { capacity: 3 } });
    await waitFor("all three upstream calls", () => cog.open === 3);
    cog.finishAll();
    for (const answer of await Promise.all(calls)) expect(answer.status).toBe(200);
  });
});

test("a failing driver is a 500 without details, and the log has the request id", async () => {
  // Validation refuses an unknown built-in, so the test writes it directly.
  await gantry.database.sql`
    update models set version = version + 1, manifest = jsonb_set(manifest::jsonb, '{backend}', '{"type":"builtin","model":"secret-internal-name"}')::json
    where name = 'private'`;
  await waitFor("the node to have forgotten the model", async () => {
    const card = await gantry.call("GET", "/api/v1/admin/private");
    return card.body.backend.model === "secret-internal-name";
  });
  const answer = await predict("admin/private", { prompt: "x" });
  expect(answer.status).toBe(500);
  expect(answer.text).not.toContain("secret-internal-name");
  expect(answer.body.detail[0]).toMatchObject({ type: "internal_server_error", msg: "Internal server error" });
  expect(answer.headers.get("x-request-id")).toBeTruthy();
  expect(gantry.logged()).toContain("secret-internal-name");
});
