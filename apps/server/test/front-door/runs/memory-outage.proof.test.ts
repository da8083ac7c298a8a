import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type FaultyS3, startFaultyS3 } from "../../support/faulty-s3.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { agentModel, createModels } from "../../support/models.ts";
import { testS3 } from "../../support/s3.ts";
import { type ScriptedLlm, startScriptedLlm } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const s3 = await testS3();
let faulty: FaultyS3;
let gantry: GantryNode;
let llm: ScriptedLlm;
let agent: string;

beforeAll(async () => {
  if (!s3) return;
  faulty = await startFaultyS3(s3.endpoint);
  llm = await startScriptedLlm();
  const env = {
    S3_ENDPOINT: faulty.endpoint,
    S3_BUCKET: s3.bucket,
    S3_REGION: s3.region,
    S3_ACCESS_KEY_ID: s3.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
  };
  gantry = await startGantry({ env });
  await createModels(gantry, { llm: agentModel(llm.url) });
  const drive = (await gantry.call("POST", "/v1/drives", { json: { name: "Memory" } })).body.id;
  const form = { path: "/memory.md", file: new Blob(["The user likes tea."]) };
  expect((await gantry.call("POST", `/v1/drives/${drive}/files`, { form })).status).toBe(201);
  const json = { name: "Rememberer", goal: "Do it.", tools: [], model: "admin/llm", memory: { drive } };
  agent = (await gantry.call("POST", "/v1/agents", { json })).body.id;
  expect((await gantry.call("POST", `/v1/agents/${agent}/publish`, { json: {} })).status).toBe(200);
}, 120_000);

afterAll(async () => {
  await gantry?.close();
  await faulty?.close();
  await llm?.close();
  await s3?.stop();
}, 60_000);

beforeEach(({ skip }) => {
  if (!s3) skip("NOT TESTED: S3 is missing");
});

test("a run with notes outlasts an outage of the file store that is longer than its time limit", async () => {
  faulty.refuse((method) => method === "GET");
  const json = { input: {}, timeout_seconds: 8 };
  const { id } = (await gantry.call("POST", `/v1/agents/${agent}/runs`, { json })).body;
  const isPause = (line: string) => line.includes(`"run_id":"${id}"`) && line.includes("pausing a run");
  await waitFor("the pause", () => gantry.logged().split("\n").some(isPause));
  await sleep(10_000);
  faulty.refuse(undefined);
  await waitFor("the run to end", async () => (await gantry.call("GET", `/v1/runs/${id}`)).body.phase === "ended");
  const { body } = await gantry.call("GET", `/v1/runs/${id}`);
  expect(body, JSON.stringify(body)).toMatchObject({ status: "done" });
  expect(JSON.stringify(llm.requests)).toContain("The user likes tea.");
}, 90_000);
