import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient, type GantryClient } from "../../../../../packages/sdk/src/index.ts";
import { chatLine } from "../../support/batch-lines.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

let gantry: GantryNode;
let client: GantryClient;

beforeAll(async () => {
  gantry = await startGantry();
  client = createClient({ url: gantry.url, key: gantry.adminKey });
});
afterAll(() => gantry.close());

const requests = new TextEncoder().encode(JSON.stringify(chatLine("gantry/rules", "Hello", "first")));
const endpoint = "/v1/chat/completions";

test("a batch is created, awaited, listed page by page and downloaded", async () => {
  const { id } = await client.batches.create(requests, { endpoint, metadata: { job: "nightly" } });
  const seen: string[] = [];
  const batch = await client.batches.waitFor(id, { onLook: ({ status }) => seen.push(status) });
  expect([batch.status, batch.metadata, seen.at(-1)]).toEqual(["completed", { job: "nightly" }, "completed"]);
  const results = await (await client.batches.download(batch.output_file_id ?? "")).json();
  expect(results).toMatchObject({ custom_id: "first", response: { status_code: 200 } });

  const other = await client.batches.create(requests, { endpoint });
  expect(await client.batches.list({ limit: 1 })).toMatchObject({ has_more: true, last_id: other.id });
  expect(await client.batches.list({ limit: 1, after: other.id })).toMatchObject({ has_more: false, last_id: id });
  expect((await Array.fromAsync(client.batches.each())).map((each) => each.id)).toEqual([other.id, id]);
  await client.batches.waitFor(other.id);
  await expect(client.batches.cancel(other.id)).rejects.toMatchObject({ status: 409 });
});

test("a refused batch leaves no file behind, and errors have the server's message", async () => {
  const before = (await client.files.list()).total_count;
  const refused = client.batches.create(requests, { endpoint, metadata: { long: "x".repeat(600) } });
  await expect(refused).rejects.toMatchObject({ status: 400, message: expect.stringContaining("512") });
  expect((await client.files.list()).total_count).toBe(before);
  await expect(client.batches.get("batch_unknown")).rejects.toMatchObject({ status: 404 });
  await expect(client.batches.create("text" as never, { endpoint })).rejects.toThrow("A file must be a Blob or bytes");
});
