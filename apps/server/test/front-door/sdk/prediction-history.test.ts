import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient, type GantryClient, type PredictionRecord } from "../../../../../packages/sdk/src/index.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

let gantry: GantryNode;
let client: GantryClient;

beforeAll(async () => {
  gantry = await startGantry();
  client = createClient({ url: gantry.url, key: await gantry.newUser("ann", { credit: 5 }) });
});
afterAll(() => gantry?.close());

test("predictions are listed, read and deleted", async () => {
  const { prediction_id: id } = await client.predict("gantry/image", { prompt: "a mill", size: "1280x720" });
  for await (const _event of client.stream("gantry/text", { prompt: "What is 6 * 7?" }));
  const page = await client.predictions.list({ model: "gantry/image", status: "succeeded", from_date: new Date(0) });
  expect(page).toMatchObject({ total_count: 1, searched_from: null, results: [{ id, preview: { input: "a mill" } }] });
  expect((await Array.fromAsync(client.predictions.each({ q: id }))).map((one) => one.id)).toEqual([id]);
  expect(await Array.fromAsync(client.predictions.each())).toHaveLength(2);
  const record: PredictionRecord = await client.predictions.read(id);
  expect(record).toMatchObject({
    input: { prompt: "a mill" },
    input_state: "kept",
    output: { image: expect.any(String) },
  });
  await client.predictions.deleteContent(id);
  expect(await client.predictions.read(id)).toMatchObject({ input: null, input_state: "deleted", price: record.price });
  await expect(client.predictions.read("pred_none")).rejects.toMatchObject({ status: 404, type: "not_found" });
});
