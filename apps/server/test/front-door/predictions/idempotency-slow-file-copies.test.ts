import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { cogModel, createModels, text } from "../../support/models.ts";
import { waitFor } from "../../support/wait-for.ts";

/** The files of a queued prediction are stored before its admission, and the store may be slow. */
let gantry: GantryNode;
let store: Server;
const objects = new Set<string>();
const heldPuts: (() => void)[] = [];
let isHolding = false;

beforeAll(async () => {
  store = createServer(async (request, response) => {
    const path = String(request.url).split("?")[0] ?? "";
    await Array.fromAsync(request);
    if (request.method === "PUT") {
      if (isHolding) await new Promise<void>((resolve) => heldPuts.push(resolve));
      objects.add(path);
      response.setHeader("etag", '"e"');
    }
    if (request.method === "DELETE") objects.delete(path);
    response.end();
  });
  await new Promise<void>((resolve) => store.listen(0, "127.0.0.1", resolve));
  const endpoint = `http://127.0.0.1:${(store.address() as AddressInfo).port}`;
  // Without a worker, admitted predictions stay queued.
  const s3 = { S3_ENDPOINT: endpoint, S3_BUCKET: "gantry", S3_ACCESS_KEY_ID: "a", S3_SECRET_ACCESS_KEY: "b" };
  gantry = await startGantry({ env: { GANTRY_ROLE: "api", ...s3 } });
  const input = { type: "object", properties: { paper: { ...text, format: "binary", "x-media": "file" } } };
  await createModels(gantry, { paid: cogModel("http://127.0.0.1:9", { pricing: { per_request: 0.6 }, input }) });
});

afterAll(async () => {
  await gantry.close();
  store.closeAllConnections();
  store.close();
});

const copies = () => [...objects].filter((path) => path.includes("/inputs/")).map((path) => path.split("/").at(-2));
const admitted = async () =>
  (await gantry.database.sql<{ id: string }[]>`select id from live_predictions`).map(({ id }) => id);

afterEach(async () => {
  objects.clear();
  await gantry.database.sql`truncate live_predictions, idempotency_keys`;
});

/** The first request with a key is considered dead while its file is copied. */
async function beginSlowly(key: string) {
  const send = () =>
    gantry.call("POST", "/api/v1/admin/paid/predict/async/", {
      key,
      headers: { "idempotency-key": "k1" },
      form: { paper: new File([Buffer.alloc(100_000, "a")], "paper.txt") },
    });
  isHolding = true;
  const slow = send();
  await waitFor("the copy", () => heldPuts.length === 1);
  isHolding = false;
  // From then on the key can be taken over.
  await sleep(1_100);
  await gantry.database.sql`update idempotency_keys set created_at = now() - interval '61 seconds'`;
  return { slow, send, goOn: () => heldPuts.splice(0).forEach((release) => void release()) };
}

test("a request considered dead during its file copy becomes a repeat of its successor", async () => {
  const key = await gantry.newUser("patient");
  const { slow, send, goOn } = await beginSlowly(key);
  const quick = await send();
  expect(quick.status, quick.text).toBe(200);
  goOn();
  expect((await slow).body).toEqual(quick.body);
  expect([await admitted(), copies()]).toEqual([[quick.body.prediction_id], [quick.body.prediction_id]]);
});

test("if the successor was refused, it gets a retryable error", async () => {
  const key = await gantry.newUser("unlucky");
  const { slow, send, goOn } = await beginSlowly(key);
  await gantry.database.sql`delete from idempotency_keys`;
  goOn();
  const told = await slow;
  expect([told.status, told.headers.get("x-service-retryable")]).toEqual([503, "true"]);
  expect([await admitted(), copies()]).toEqual([[], []]);
  const { body } = await send();
  expect([await admitted(), copies()]).toEqual([[body.prediction_id], [body.prediction_id]]);
});
