import { readdir } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verifyLedger } from "../../src/features/billing/index.ts";
import { testDatabase } from "../support/database.ts";
import { type GantryNode, startGantry } from "../support/gantry.ts";
import { waitFor } from "../support/wait-for.ts";
import { textModel } from "./client.ts";
import { untilQuiet } from "./money-storm.ts";
import { promptOf, type Script, startUpstreams, type Upstreams } from "./upstreams.ts";
import { startWire, type Wire } from "./wire.ts";

/** A commit whose answer is lost: the server must find out, and neither lose nor repeat anything. */
let own: Awaited<ReturnType<typeof testDatabase>>;
let wire: Wire;
let upstreams: Upstreams;
/** Connects to its database through the proxy; the other node connects directly. */
let gantry: GantryNode;
let other: GantryNode;

const text = { type: "string" };
const object = (properties: object, required: string[]) => ({ type: "object", required, properties });
const image = { type: "string", format: "binary", "x-media": "image" };

beforeAll(async () => {
  [own, upstreams] = await Promise.all([testDatabase(), startUpstreams()]);
  wire = await startWire(own.url);
  gantry = await startGantry({ env: { DATABASE_URL: wire.url } });
  other = await startGantry({ beside: gantry, env: { DATABASE_URL: own.url, GANTRY_ROLE: "api" } });
  for (const name of [
    "admitted",
    "settled",
    "queued",
    "repeated",
    "claimed",
    "granted",
    "cancelled",
    "absurd",
    "filed",
  ]) {
    const json = {
      title: name,
      description: "A model of the proofs.",
      kind: "other",
      visibility: "public",
      capacity: name === "granted" || name === "filed" ? 1 : 10,
      pricing: { per_request: 0.01 },
      input: object({ prompt: text, image }, ["prompt"]),
      output: object({ output: text }, ["output"]),
      backend: { type: "cog", url: upstreams.cogUrl },
      ...(name === "absurd" && {
        ...textModel,
        backend: { type: "openai-chat", url: upstreams.chatUrl, model: "test" },
      }),
    };
    const put = await gantry.call("PUT", `/api/v1/admin/${name}`, { json });
    expect(put.status, put.text).toBe(201);
  }
});

afterAll(async () => {
  await untilQuiet(own.database);
  expect(await verifyLedger(own.database)).toEqual([]);
  await other.close();
  await gantry.close();
  await wire.close();
  await own.drop();
  await upstreams.close();
}, 120_000);

const promptFor = (script: Partial<Script> = {}) =>
  promptOf({ end: "ok", ms: 0, words: 1, inputTokens: 1, outputTokens: 1, mark: "m", ...script });

const chargesOf = async (model: string) =>
  own.database.sql<{ id: string; status: number; charges: number; deliveries: number }[]>`
    select e.id, e.status, (select count(*)::int from usage where request_id = e.id and price_micros > 0) as charges,
      (select count(*)::int from webhook_deliveries where prediction_id = e.id) as deliveries
    from ended_predictions e where e.model_name = ${`admin/${model}`} order by e.created_at`;

describe("a lost answer of the database", () => {
  test("of a settlement: written once, and the client gets its result", async () => {
    const lost = wire.loseAnswerTo('\\\\\\"output\\\\\\":');
    const answer = await gantry.call("POST", "/api/v1/admin/settled/predict", { form: { prompt: promptFor() } });
    await lost;
    expect(answer.status, answer.text).toBe(200);
    expect(await chargesOf("settled")).toMatchObject([{ status: 200, charges: 1 }]);
  });

  test("of the settlement of a queued prediction: one charge, one delivery", async () => {
    const received: string[] = [];
    const receiver = createServer((request, response) => {
      received.push(String(request.headers["webhook-id"]));
      response.end();
    });
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    const lost = wire.loseAnswerTo(',10000,\\"', "commit\0");
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    await gantry.call("POST", "/api/v1/admin/queued/predict/async/", {
      form: { prompt: promptFor(), webhook: JSON.stringify({ url }) },
    });
    await lost;
    await waitFor("the delivery", () => received.length > 0);
    expect(await chargesOf("queued")).toMatchObject([{ status: 200, charges: 1, deliveries: 1 }]);
    receiver.close();
  });

  test("of the admission of a queued prediction with an Idempotency-Key: the repeat returns the same prediction and files", async () => {
    const png = await sharp({ create: { width: 32, height: 32, channels: 3, background: "#0f0" } })
      .png()
      .toBuffer();
    const accept = () =>
      gantry.call("POST", "/api/v1/admin/repeated/predict/async/", {
        form: { prompt: promptFor({ ms: 500 }), image: new File([png], "green.png") },
        headers: { "idempotency-key": "once" },
      });
    const lost = wire.loseAnswerTo(',\\"admin/repeated\\",');
    expect((await accept()).status).toBe(503);
    await lost;
    const again = await accept();
    expect(again.status, again.text).toBe(200);
    await waitFor("it to end", async () => (await chargesOf("repeated")).length > 0);
    await sleep(1000);
    expect(await chargesOf("repeated")).toMatchObject([{ id: again.body.prediction_id, status: 200, charges: 1 }]);
  });

  test("of an admission and of a claim: an orphaned prediction is cancelled or queued again", async () => {
    const noAdmission = wire.loseAnswerTo(',\\"admin/admitted\\",');
    const answer = await gantry.call("POST", "/api/v1/admin/admitted/predict", { form: { prompt: promptFor() } });
    await noAdmission;
    expect(answer.status, answer.text).toBe(503);
    const noClaim = wire.loseAnswerTo({ statement: "claim_predictions(" });
    // Through the other node: this node's worker is notified and claims.
    await other.call("POST", "/api/v1/admin/claimed/predict/async/", { form: { prompt: promptFor() } });
    await noClaim;
    for (const model of ["admitted", "claimed"])
      await waitFor(`the one of ${model} to end`, async () => (await chargesOf(model)).length === 1, 60_000);
    expect(await chargesOf("admitted")).toMatchObject([{ status: 499, charges: 0 }]);
    expect(await chargesOf("claimed")).toMatchObject([{ status: 200, charges: 1 }]);
  }, 90_000);
});

describe("a lost notification", () => {
  test("of a free slot: found within seconds", async () => {
    const first = other.call("POST", "/api/v1/admin/granted/predict", { form: { prompt: promptFor({ end: "hang" }) } });
    await waitFor("the upstream call", () => upstreams.open === 1);
    const [running] = upstreams.seen.keys().toArray().slice(-1);
    const second = gantry.call("POST", "/api/v1/admin/granted/predict", { form: { prompt: promptFor() } });
    await waitFor(
      "it to wait",
      async () =>
        (
          await own.database.sql`
      select 1 from live_predictions where started_at is null`
        ).length === 1,
    );
    wire.cutListeners();
    const freedAt = performance.now();
    upstreams.release(running ?? "");
    expect((await first).status).toBe(200);
    expect((await second).status).toBe(200);
    expect(performance.now() - freedAt).toBeLessThan(20_000);
    wire.mend();
  });

  test("of a cancel: the prediction is still cancelled, and its work stops", async () => {
    const run = gantry.call("POST", "/api/v1/admin/cancelled/predict", {
      form: { prompt: promptFor({ end: "hang" }) },
    });
    await waitFor("the upstream call", () => upstreams.open === 1);
    const [id] = upstreams.seen.keys().toArray().slice(-1);
    wire.cutListeners();
    const cancel = await other.call("POST", `/api/v1/admin/cancelled/predict/cancel/?prediction_id=${id}`);
    expect(cancel.body).toEqual({ prediction_id: id, status: 499 });
    await waitFor("the upstream call to be closed", () => upstreams.open === 0);
    expect((await run).status).toBe(499);
    expect(await chargesOf("cancelled")).toMatchObject([{ status: 499, charges: 0 }]);
    wire.mend();
  }, 30_000);
});

describe("an end that the database rejects", () => {
  test("is a failure instead of a prediction that never ends", async () => {
    await own.database.sql`
      alter table ended_predictions add constraint not_these check (output_tokens is distinct from 4242)`;
    const form = { prompt: promptFor({ words: 2, outputTokens: 4242 }) };
    const queued = await gantry.call("POST", "/api/v1/admin/absurd/predict/async/", { form });
    expect(queued.status, queued.text).toBe(200);
    const stream = await gantry.call("POST", "/api/v1/admin/absurd/predict/stream/", { form });
    expect(stream.text).toContain('"internal_server_error"');
    await waitFor("both to end", async () => (await chargesOf("absurd")).length === 2);
    expect(await chargesOf("absurd")).toMatchObject([
      { status: 500, charges: 0 },
      { status: 500, charges: 0 },
    ]);
    expect(upstreams.seen.get(queued.body.prediction_id)?.calls).toBe(1);
  });
});

describe("the files of a queued prediction", () => {
  test("are deleted when it ends, even if it never ran", async () => {
    const png = await sharp({ create: { width: 32, height: 32, channels: 3, background: "#00f" } })
      .png()
      .toBuffer();
    const accept = async (end: Script["end"]) => {
      const form = { prompt: promptFor({ end }), image: new File([png], "blue.png") };
      return (await gantry.call("POST", "/api/v1/admin/filed/predict/async/", { form })).body.prediction_id as string;
    };
    const storedFiles = async () =>
      (await readdir(join(gantry.home, "blobs"), { recursive: true, withFileTypes: true })).filter((one) =>
        one.isFile(),
      ).length;
    const before = await storedFiles();
    const running = await accept("hang");
    await waitFor("the upstream call", () => upstreams.seen.has(running));
    const waiting = await accept("ok");
    await waitFor("both files", async () => (await storedFiles()) === before + 2);
    for (const id of [waiting, running])
      await gantry.call("POST", `/api/v1/admin/filed/predict/cancel/?prediction_id=${id}`);
    await waitFor("the files to be gone", async () => (await storedFiles()) === before);
  });
});
