import { setTimeout as sleep } from "node:timers/promises";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../support/gantry.ts";
import { testS3 } from "../support/s3.ts";
import { type SlowCog, startSlowCog } from "../support/slow-cog.ts";
import { waitFor } from "../support/wait-for.ts";

const s3 = await testS3();
let gantry: GantryNode;
let cog: SlowCog;

beforeAll(async () => {
  if (!s3) return;
  cog = await startSlowCog();
  gantry = await startGantry({
    env: {
      S3_ENDPOINT: s3.endpoint,
      S3_BUCKET: s3.bucket,
      S3_REGION: s3.region,
      S3_ACCESS_KEY_ID: s3.accessKeyId,
      S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    },
  });
  const answer = await gantry.call("PUT", "/api/v1/admin/look", {
    json: {
      title: "Look",
      kind: "other",
      visibility: "public",
      capacity: 1,
      pricing: { per_request: 0.001 },
      input: {
        type: "object",
        required: ["prompt"],
        properties: {
          prompt: { type: "string" },
          image: { type: ["string", "null"], format: "binary", "x-media": "image" },
        },
      },
      output: { type: "object", properties: { output: { type: "string" } } },
      backend: { type: "cog", url: cog.url },
    },
  });
  expect([answer.status, answer.body.detail]).toEqual([201, undefined]);
}, 120_000);

afterAll(async () => {
  await gantry?.close();
  await cog?.close();
  await s3?.stop();
}, 60_000);

async function accept(prompt: string, image?: File): Promise<string> {
  const form = { prompt, ...(image && { image }) };
  const answer = await gantry.call("POST", "/api/v1/admin/look/predict/async/", { form });
  expect(answer.status).toBe(200);
  return answer.body.prediction_id;
}

const result = async (id: string, wait = 0) => {
  const path = `/api/v1/admin/look/predict/async/result/?request_id=${id}&wait=${wait}`;
  return (await gantry.call("GET", path)).body.inference_responses[0].infer_details.status;
};

test("a queued prediction waits for its input while the file store is down, and can be cancelled", async ({ skip }) => {
  if (!s3) return skip("NOT TESTED: S3 is missing");
  const red = { create: { width: 64, height: 64, channels: 3, background: "red" } } as const;
  const picture = new File([new Uint8Array(await sharp(red).png().toBuffer())], "red.png");
  await accept("first");
  await waitFor("the first upstream call", () => cog.open === 1);
  const [second, third] = [await accept("second", picture), await accept("third", picture)];
  const key = await gantry.newUser("other");
  const fourth = (await gantry.call("POST", "/api/v1/admin/look/predict/async/", { form: { prompt: "no file" }, key }))
    .body.prediction_id;
  await s3.kill();
  cog.finishOne();
  // Predictions without files continue.
  await waitFor("the one without a file", () => cog.open === 1, 10_000);
  const [row] = await gantry.database
    .sql`select id from live_predictions where id = ${fourth} and started_at is not null`;
  expect(row).toBeDefined();
  cog.finishOne();
  await sleep(5_000);
  expect(cog.open).toBe(0);
  expect(await result(second)).toBe(202);
  // A prediction whose output cannot be stored is not retried: each model call may cost money.
  const path = "/api/v1/gantry/image/predict/async/";
  const painted = await gantry.call("POST", path, { form: { prompt: "a lake", size: "1280x720" } });
  const end = await gantry.call("GET", `${path}result/?request_id=${painted.body.prediction_id}&wait=40`);
  expect(end.body.inference_responses[0].infer_details.status).toBe(503);
  const cancelled = await gantry.call("POST", "/api/v1/admin/look/predict/cancel/", { json: { prediction_id: third } });
  expect([cancelled.status, cancelled.body]).toEqual([200, { prediction_id: third, status: 499 }]);
  await s3.start();
  await waitFor("the second upstream call with its file", () => cog.open === 1, 20_000);
  cog.finishOne();
  expect(await result(second, 10)).toBe(200);
  const usage = await gantry.call("GET", "/api/v2/usage");
  expect(usage.body.results.filter((one: { request_id: string }) => one.request_id === second)).toMatchObject([
    { status: 200 },
  ]);
}, 90_000);
