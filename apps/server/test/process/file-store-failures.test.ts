import { randomBytes } from "node:crypto";
import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type FaultyS3, startFaultyS3 } from "../support/faulty-s3.ts";
import { type GantryNode, startGantry } from "../support/gantry.ts";
import { cogModel, createModels, text } from "../support/models.ts";
import { testS3 } from "../support/s3.ts";
import { type SlowCog, startSlowCog } from "../support/slow-cog.ts";
import { waitFor } from "../support/wait-for.ts";

const s3 = await testS3();
let faulty: FaultyS3;
let gantry: GantryNode;
let cog: SlowCog;
let picture: File;

beforeAll(async () => {
  if (!s3) return;
  faulty = await startFaultyS3(s3.endpoint);
  cog = await startSlowCog();
  gantry = await startGantry({
    env: {
      S3_ENDPOINT: faulty.endpoint,
      S3_BUCKET: s3.bucket,
      S3_REGION: s3.region,
      S3_ACCESS_KEY_ID: s3.accessKeyId,
      S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
      GANTRY_WORKER_PARALLEL: "1",
    },
  });
  const input = { type: "object", properties: { image: { ...text, format: "binary", "x-media": "image" } } };
  await createModels(gantry, { look: cogModel(cog.url, { pricing: { per_request: 0.001 }, input }) });
  const noise = { width: 200, height: 200, channels: 3 } as const;
  const png = await sharp(randomBytes(120_000), { raw: noise }).png().toBuffer();
  picture = new File([new Uint8Array(png)], "noise.png");
}, 120_000);

afterAll(async () => {
  await gantry?.close();
  await faulty?.close();
  await cog?.close();
  await s3?.stop();
}, 60_000);

beforeEach(({ skip }) => {
  if (!s3) skip("NOT TESTED: S3 is missing");
});

const path = "/api/v1/admin/look/predict";
const statusOf = async (id: string, wait: number) =>
  (await gantry.call("GET", `${path}/async/result/?request_id=${id}&wait=${wait}`)).body.inference_responses[0]
    .infer_details.status;

test("a broken download of an input address is a retryable 503", async () => {
  const upload = await gantry.call("POST", "/api/v1/admin/look/upload_file", { form: { file: picture } });
  const image = upload.body.file_input.s3_path;
  for (const afterBytes of [1, 30_000]) {
    for (const way of ["", "/async/"]) {
      const before = faulty.cuts;
      faulty.cutNext("/uploads/", afterBytes);
      const answer = await gantry.call("POST", path + way, { form: { image } });
      expect([answer.status, answer.headers.get("x-service-retryable")]).toEqual([503, "true"]);
      expect(faulty.cuts).toBe(before + 1);
    }
  }
  expect(cog.started).toBe(0);
  const answer = await gantry.call("POST", `${path}/async/`, { form: { image } });
  await waitFor("the upstream call", () => cog.open === 1);
  cog.finishOne();
  expect(await statusOf(answer.body.prediction_id, 10)).toBe(200);
}, 60_000);

test("a queued prediction whose input breaks off is retried", async () => {
  for (const afterBytes of [1, 60_000]) {
    const [cuts, started] = [faulty.cuts, cog.started];
    faulty.cutNext("/inputs/", afterBytes);
    const answer = await gantry.call("POST", `${path}/async/`, { form: { image: picture } });
    expect(answer.status).toBe(200);
    await waitFor("the upstream call", () => cog.open === 1, 15_000);
    expect([faulty.cuts, cog.started]).toEqual([cuts + 1, started + 1]);
    cog.finishOne();
    expect(await statusOf(answer.body.prediction_id, 10)).toBe(200);
  }
}, 60_000);

test("a prediction whose input always breaks off fails after five attempts without a charge, while others run", async () => {
  const account = async () => (await gantry.call("GET", "/api/v2/me")).body;
  const { balance } = await account();
  const [cuts, started] = [faulty.cuts, cog.started];
  faulty.cutAll("/inputs/", 60_000);
  try {
    const form = { image: picture };
    const { prediction_id: id } = (await gantry.call("POST", `${path}/async/`, { form })).body;
    await waitFor("the first break", () => faulty.cuts > cuts);
    const other = await gantry.call("POST", `${path}/async/`, { form: {} });
    await waitFor("the upstream call", () => cog.open === 1);
    cog.finishOne();
    expect(await statusOf(other.body.prediction_id, 10)).toBe(200);
    expect(await statusOf(id, 45)).toBe(503);
    expect([faulty.cuts, cog.started]).toEqual([cuts + 5, started + 1]);
    const result = await gantry.call("GET", `${path}/async/result/?request_id=${id}`);
    expect(JSON.stringify(result.body)).toContain("An input file could not be read");
    expect((await account()).reserved).toBe(0);
    expect(balance - (await account()).balance).toBeCloseTo(0.001, 6); // of the other prediction
  } finally {
    faulty.cutAll(undefined);
  }
}, 90_000);

const listed = async () => (await gantry.call("GET", "/api/v2/files")).body.results as { id: string; origin: string }[];

test("drive bytes that arrived although the answer was lost are collected", async () => {
  const { sql } = gantry.database;
  const drive = await gantry.call("POST", "/v1/drives", { json: { name: "lossy" } });
  const write = () =>
    gantry.call("POST", `/v1/drives/${drive.body.id}/files`, {
      form: { file: new File(["some bytes"], "a.txt"), path: "/a.txt" },
    });
  const arrived: string[] = [];
  faulty.loseAnswers((method, path) => {
    const isLost = method === "PUT" && path.includes("/drives/");
    if (isLost) arrived.push(path.replace(/^.*(drives\/[^?]+).*$/, "$1"));
    return isLost;
  });
  try {
    expect((await write()).status).toBe(503);
  } finally {
    faulty.loseAnswers(undefined);
  }
  expect(arrived.length).toBeGreaterThan(0);
  const loose = await sql<{ key: string }[]>`select key from drive_loose_blobs`;
  for (const key of arrived) expect(loose.map((row) => row.key)).toContain(key);
  expect((await write()).status).toBe(201);
});

test("a file that could not be stored is not listed", async () => {
  const ids = async () => (await listed()).map(({ id }) => id);
  const before = await ids();
  faulty.refuse((method) => method === "PUT" || method === "POST");
  try {
    const upload = await gantry.call("POST", "/api/v1/admin/look/upload_file", { form: { file: picture } });
    expect([upload.status, upload.headers.get("x-service-retryable")]).toEqual([503, "true"]);
    const form = { prompt: "a lake", size: "1280x720" };
    expect((await gantry.call("POST", "/api/v1/gantry/image/predict", { form })).status).toBe(503);
  } finally {
    faulty.refuse(undefined);
  }
  expect(await ids()).toEqual(before);
}, 60_000);

test("a file is deleted quickly even if the store does not answer", async () => {
  const upload = await gantry.call("POST", "/api/v1/admin/look/upload_file", { form: { file: picture } });
  expect(upload.status).toBe(200);
  const [newest] = await listed();
  faulty.silence((method) => method === "DELETE");
  const began = performance.now();
  try {
    expect((await gantry.call("DELETE", `/api/v2/files/${newest?.id}`)).status).toBe(204);
  } finally {
    faulty.silence(undefined);
  }
  expect(performance.now() - began).toBeLessThan(15_000);
  expect((await listed()).map(({ id }) => id)).not.toContain(newest?.id);
  expect((await gantry.call("DELETE", `/api/v2/files/${newest?.id}`)).status).toBe(404);
}, 60_000);

test("a draining server releases a prediction that waits for its input", async () => {
  const { cuts } = faulty;
  faulty.cutAll("/inputs/", 60_000);
  const { prediction_id: id } = (await gantry.call("POST", `${path}/async/`, { form: { image: picture } })).body;
  await waitFor("the third break", () => faulty.cuts === cuts + 3, 15_000);
  await waitFor("the rest", () => gantry.logged().includes(`"prediction_id":"${id}","pause_ms":8000`));
  const began = performance.now();
  await gantry.gantry.drain(30_000);
  expect(performance.now() - began).toBeLessThan(6_000);
  const [row] = await gantry.database.sql`select holder, started_at from live_predictions where id = ${id}`;
  expect(row).toEqual({ holder: null, started_at: null });
}, 60_000);
