import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { chatModel, cogModel, createModels } from "../../support/models.ts";
import { type SlowCog, startSlowCog } from "../../support/slow-cog.ts";

let gantry: GantryNode;
let beside: GantryNode;
let cog: SlowCog;
let bob: { key: string };
const path = "/api/v1/alice/mock";

beforeAll(async () => {
  cog = await startSlowCog();
  gantry = await startGantry();
  beside = await startGantry({ beside: gantry });
  const alice = { key: await gantry.newUser("alice") };
  bob = { key: await gantry.newUser("bob") };
  await createModels(gantry, { mock: cogModel(cog.url), chat: chatModel(cog.url) }, { name: "alice", ...alice });
});
afterAll(async () => {
  await beside.close();
  await gantry.close();
  await cog.close();
});

const setDisabled = async (disabled: boolean) =>
  expect((await gantry.call("PATCH", "/api/v2/admin/users/alice", { json: { disabled } })).status).toBe(200);
const listed = async (node: GantryNode): Promise<string[]> =>
  (await node.call("GET", "/api/v1?q=alice", bob)).body.results.map(({ id }: { id: string }) => id);

test("a disabled user's models are hidden; accepted predictions finish and stay readable", async () => {
  const accepted = await gantry.call("POST", `${path}/predict/async`, { ...bob, form: { prompt: "x" } });
  expect(accepted.status, accepted.text).toBe(200);
  await expect.poll(() => cog.open).toBe(1);
  const agent = { name: "On another's model", goal: "Answer.", model: "alice/chat", tools: [] };
  const created = await gantry.call("POST", "/v1/agents", { ...bob, json: agent });
  expect(created.status, created.text).toBe(201);
  const { id: agentId } = created.body;
  expect((await gantry.call("POST", `/v1/agents/${agentId}/publish`, { ...bob, json: {} })).status).toBe(200);
  for (const node of [gantry, beside]) {
    expect((await node.call("GET", path, bob)).status).toBe(200);
    expect(await listed(node)).toHaveLength(2);
  }
  const begun = cog.started;

  await setDisabled(true);
  const notFound = { detail: "Project not found", status_code: 404 };
  for (const [method, where] of [
    ["POST", `${path}/predict`],
    ["POST", `${path}/predict/async`],
    ["GET", path],
    ["GET", `${path}/openapi.json`],
    ["GET", `${path}/flow`],
    ["GET", `${path}/upload_url`],
  ] as const) {
    const answer = await gantry.call(method, where, { ...bob, ...(method === "POST" && { form: { prompt: "x" } }) });
    expect(answer.body, `${method} ${where}`).toEqual(notFound);
  }
  await expect.poll(async () => (await beside.call("GET", path, bob)).status, { interval: 10 }).toBe(404);
  for (const node of [gantry, beside]) expect(await listed(node)).toEqual([]);
  expect((await gantry.call("GET", "/api/v1?q=gantry/", bob)).body.total_count).toBeGreaterThan(0);
  const run = await gantry.call("POST", `/v1/agents/${agentId}/runs`, { ...bob, json: { input: {} } });
  expect(run.status, run.text).toBe(409);
  expect(cog.started).toBe(begun);

  cog.finishAll();
  const result = `${path}/predict/async/result?request_id=${accepted.body.prediction_id}&wait=20`;
  const ended = await gantry.call("GET", result, bob);
  expect(ended.body.inference_responses?.[0]?.infer_details.status, ended.text).toBe(200);
  expect((await gantry.call("GET", result)).body).toEqual(notFound);

  // An admin can manage the models.
  expect((await gantry.call("PATCH", path, { json: { title: "Looked at" } })).status).toBe(200);
  await setDisabled(false);
  expect((await gantry.call("GET", path, bob)).body.title).toBe("Looked at");
  expect(await listed(gantry)).toHaveLength(2);
  await expect.poll(async () => (await beside.call("GET", path, bob)).status, { interval: 10 }).toBe(200);
});
