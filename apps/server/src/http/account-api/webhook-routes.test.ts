import { deliveryRecord, newId, webhookSecretsRecord } from "@gantry/wire";
import type { FastifyInstance, InjectOptions } from "fastify";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { createAesVault } from "../../engines/vault/aes-vault.ts";
import { type Accounts, openAccounts } from "../../features/accounts/index.ts";
import { enqueueDelivery, openWebhooks, type Webhooks } from "../../features/webhooks/index.ts";
import { createServer } from "../foundation/server.ts";
import { webhookRoutes } from "./storage-routes.ts";

const adminKey = "operator-key-for-tests-0123456789-abcdef";
const deliveries = "/api/v2/webhooks/deliveries";
const secret = "/api/v2/webhooks/secret";

let stored: Awaited<ReturnType<typeof testDatabase>>;
let accounts: Accounts;
let webhooks: Webhooks;
let app: FastifyInstance;
let annId: string;
let annKey: string;
let bobKey: string;

beforeAll(async () => {
  stored = await testDatabase();
  const { database } = stored;
  const clock = { now: () => new Date() };
  const log = pino({ level: "silent" });
  accounts = await openAccounts({ database, clock, log });
  await accounts.bootstrap(adminKey);
  webhooks = openWebhooks({ database, vault: createAesVault(Buffer.alloc(32, 3)), clock });
  app = createServer({ log, publicUrl: undefined, authenticate: accounts.authenticate });
  webhookRoutes(app, { webhooks });

  const keyOf = async (username: string, models: string[] | null) =>
    (await accounts.createKeyFor(username, { name: "", expiresAt: null, models, monthlyLimitMicros: null })).key;
  const user = { role: "user", plan: "free" } as const;
  annId = (await accounts.createUser({ username: "ann", ...user })).id;
  await accounts.createUser({ username: "bob", ...user });
  annKey = await keyOf("ann", null);
  bobKey = await keyOf("bob", null);
});
afterAll(async () => {
  await app.close();
  await accounts.close();
  await stored.drop();
});

async function call(method: NonNullable<InjectOptions["method"]>, url: string, key?: string) {
  const response = await app.inject({ method, url, headers: key === undefined ? {} : { "x-api-key": key } });
  return { status: response.statusCode, text: response.body, body: response.json() };
}

/** A pending delivery of ann's. */
async function newDelivery({ modelName = "ann/painter", url = "https://receiver.example/hook" } = {}): Promise<string> {
  const owner = { userId: annId, predictionId: newId("prediction") };
  const webhook = webhooks.seal(owner, { url, headers: { authorization: "s3cret" }, query_params: { key: "s3cret" } });
  await stored.database.transaction((tx) =>
    enqueueDelivery(tx, { ...owner, modelName, webhook, payload: { text: "the result" } }),
  );
  return owner.predictionId;
}

const find = async (predictionId: string, key = annKey) =>
  (await call("GET", `${deliveries}?prediction_id=${predictionId}`, key)).body.results;

describe("GET /api/v2/webhooks/deliveries", () => {
  test("200: the caller's deliveries, newest first, in pages", async () => {
    const made = [await newDelivery(), await newDelivery(), await newDelivery()];
    const first = await call("GET", `${deliveries}?page_size=2`, annKey);
    expect(first.status).toBe(200);
    expect(first.body).toMatchObject({ page: 1, page_size: 2, results: [{}, {}] });
    expect(first.body.results.map((one: { prediction_id: string }) => one.prediction_id)).toEqual(
      made.toReversed().slice(0, 2),
    );
    expect(first.body.total_pages).toBe(Math.ceil(first.body.total_count / 2));
    expect(first.body.results[0]).toEqual({
      id: expect.stringMatching(/^dlv_/),
      kind: "prediction",
      run_id: null,
      event: null,
      prediction_id: made[2],
      notice_id: null,
      url: "https://receiver.example/hook",
      status: "pending",
      attempts: 0,
      latency_ms: null,
      next_attempt_at: expect.any(String),
      last_error: null,
      created_at: expect.any(String),
    });
    expect(deliveryRecord.safeParse(first.body.results[0]).error).toBeUndefined();
    const second = await call("GET", `${deliveries}?page_size=2&page=2`, annKey);
    expect(second.body.results[0].prediction_id).toBe(made[0]);
    expect(first.text + second.text).not.toMatch(/s3cret|the result/);
  });

  test("200: a password in the address is not shown", async () => {
    const predictionId = await newDelivery({ url: "https://me:s3cret@receiver.example/a?b=%20" });
    expect(await find(predictionId)).toMatchObject([{ url: "https://receiver.example/a?b=%20" }]);
  });

  test("200: by prediction and by status", async () => {
    const predictionId = await newDelivery();
    await stored.database.sql`
      update webhook_deliveries set status = 'gone', due_at = null, attempts = 2, latency_ms = 31, last_error = 'no'
      where prediction_id = ${predictionId}`;
    const gone = await call("GET", `${deliveries}?status=gone`, annKey);
    expect(gone.body).toMatchObject({ total_count: 1, total_pages: 1 });
    expect(gone.body.results).toMatchObject([
      { prediction_id: predictionId, attempts: 2, latency_ms: 31, last_error: "no", next_attempt_at: null },
    ]);
    expect(await find(predictionId)).toEqual(gone.body.results);
    const both = await call("GET", `${deliveries}?status=pending&prediction_id=${predictionId}`, annKey);
    expect(both.body.results).toEqual([]);
  });

  test("200: empty for an invalid prediction id", async () => {
    for (const id of [newId("prediction"), "nonsense"]) {
      const none = await call("GET", `${deliveries}?prediction_id=${id}`, annKey);
      expect(none.status).toBe(200);
      expect(none.body).toMatchObject({ results: [], total_count: 0 });
    }
  });

  test("200: not another's", async () => {
    const painted = await newDelivery();
    expect(await find(painted, bobKey)).toEqual([]);
    expect(await find(painted, annKey)).toHaveLength(1);
  });

  test("401: without a key, or with a wrong one", async () => {
    expect((await call("GET", deliveries)).status).toBe(401);
    expect((await call("GET", deliveries, "wrong")).status).toBe(401);
  });

  test.each([
    ["page=0", "greater_than_equal", "page"],
    ["page_size=101", "less_than_equal", "page_size"],
    ["status=sent", "one_of", "status"],
    ["status=gone&status=failed", "one_of", "status"],
    ["prediction_id=a&prediction_id=b", "string_type", "prediction_id"],
  ])("422: %s", async (query, type, field) => {
    const refused = await call("GET", `${deliveries}?${query}`, annKey);
    expect(refused.status).toBe(422);
    expect(refused.body.detail).toMatchObject([{ type, loc: ["query", field] }]);
  });
});

describe("POST /api/v2/webhooks/deliveries/{id}/resend", () => {
  const resend = (id: string, key?: string) => call("POST", `${deliveries}/${id}/resend`, key);

  test("200: pending again under the same id", async () => {
    const predictionId = await newDelivery();
    await stored.database.sql`
      update webhook_deliveries set status = 'failed', due_at = null, attempts = 8, failures = 8
      where prediction_id = ${predictionId}`;
    const [{ id }] = await find(predictionId);
    const again = await resend(id, annKey);
    expect(again.status).toBe(200);
    expect(again.body).toMatchObject({ id, prediction_id: predictionId, status: "pending", attempts: 8 });
    expect(Date.parse(again.body.next_attempt_at)).toBeLessThanOrEqual(Date.now() + 1_000);
    expect(deliveryRecord.safeParse(again.body).error).toBeUndefined();
    expect(again.text).not.toContain("s3cret");
  });

  test("401: without a key", async () => {
    expect((await resend(newId("delivery"))).status).toBe(401);
  });

  test("404: unknown, another's, or no id at all", async () => {
    const predictionId = await newDelivery();
    await stored.database.sql`
      update webhook_deliveries set status = 'failed', due_at = null where prediction_id = ${predictionId}`;
    const [{ id }] = await find(predictionId);
    const tries: [string, string][] = [
      [newId("delivery"), annKey],
      [id, bobKey],
      [id, adminKey],
      ["dlv_short", annKey],
    ];
    for (const [which, key] of tries) {
      const refused = await resend(which, key);
      expect(refused.status).toBe(404);
      expect(refused.body).toEqual({ detail: "Delivery not found", status_code: 404 });
    }
    expect(await find(predictionId)).toMatchObject([{ status: "failed" }]);
  });

  test("405: with another method", async () => {
    expect((await call("GET", `${deliveries}/${newId("delivery")}/resend`, annKey)).status).toBe(405);
  });
});

describe("the secret", () => {
  test("200: made when first asked for, the same afterwards, everybody's own", async () => {
    const first = await call("GET", secret, bobKey);
    expect(first.status).toBe(200);
    expect(first.body).toEqual({ secrets: [expect.stringMatching(/^whsec_[A-Za-z0-9+/=]{44}$/)] });
    expect(webhookSecretsRecord.safeParse(first.body).success).toBe(true);
    expect((await call("GET", secret, bobKey)).body).toEqual(first.body);
    expect((await call("GET", secret, annKey)).body).not.toEqual(first.body);
  });

  test("200: rotating adds one, newest first; 409 when ten sign already", async () => {
    const { secrets: before } = (await call("GET", secret, annKey)).body;
    const rotated = await call("POST", `${secret}/rotate`, annKey);
    expect(rotated.status).toBe(200);
    expect(rotated.body.secrets).toEqual([expect.stringMatching(/^whsec_/), ...before]);
    expect((await call("GET", secret, annKey)).body).toEqual(rotated.body);
    for (let n = 0; n < 8; n++) expect((await call("POST", `${secret}/rotate`, annKey)).status).toBe(200);
    const refused = await call("POST", `${secret}/rotate`, annKey);
    expect(refused.status).toBe(409);
    expect(refused.body).toMatchObject({ status_code: 409 });
  });

  test("401: without a key", async () => {
    for (const [method, url] of [
      ["GET", secret],
      ["POST", `${secret}/rotate`],
    ] as const) {
      expect((await call(method, url)).status).toBe(401);
    }
  });
});
