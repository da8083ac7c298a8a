import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient, type GantryClient, type StreamEvent } from "../../../../../packages/sdk/src/index.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

/** The model's next answer. */
let output: unknown;
const cog = createServer((request, response) => {
  request.resume().on("end", () => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ status: "succeeded", output }));
  });
});
let gantry: GantryNode;
let client: GantryClient;

const model = "admin/labels";
const list = { type: "array", items: { type: "string" } };

beforeAll(async () => {
  await new Promise<void>((resolve) => cog.listen(0, "127.0.0.1", resolve));
  gantry = await startGantry();
  client = createClient({ url: gantry.url, key: gantry.adminKey });
  await client.models.put(model, {
    title: "Labels",
    kind: "other",
    capacity: 4,
    input: { type: "object", properties: { prompt: { type: "string" } } },
    output: { type: "object", properties: { tags: list, more: list } },
    backend: { type: "cog", url: `http://127.0.0.1:${(cog.address() as AddressInfo).port}` },
  });
});

afterAll(async () => {
  await gantry.close();
  cog.closeAllConnections();
  cog.close();
});

const withoutIds = (events: StreamEvent[]) =>
  events.map(({ prediction_id, ...event }) => (prediction_id === undefined ? event : "acknowledged"));

describe("a model without streamed outputs", () => {
  test.each<Record<string, string[]>>([
    { tags: ["red", "blue"] },
    { tags: ["red", "blue"], more: ["red"] },
    { tags: [] },
    { tags: [""] },
    {},
  ])("returns the same by stream, follow and wait for %j", async (answer) => {
    output = answer;
    const told = ["acknowledged", { output_data: answer, status: 200, files: {} }, { output_data: {}, status: 200 }];
    expect(withoutIds(await Array.fromAsync(client.stream(model, {})))).toEqual(told);
    const id = await client.submit(model, {});
    expect(withoutIds(await Array.fromAsync(client.follow(model, id)))).toEqual(told);
    expect((await client.waitFor(model, id)).output_data).toEqual(answer);
  });
});
