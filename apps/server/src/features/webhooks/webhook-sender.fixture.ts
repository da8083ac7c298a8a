import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { newId } from "@gantry/wire";
import { pino } from "pino";
import { Webhook as Verifier } from "standardwebhooks";
import { afterEach, beforeEach, expect, vi } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { createNet } from "../../engines/net/create-net.ts";
import { createAesVault } from "../../engines/vault/aes-vault.ts";
import { enqueueDelivery, openWebhooks, startWebhookSender, type Webhook, type WebhookSenderDeps } from "./index.ts";

/** Shared by the sender's tests: a database per test, and receivers with programmable answers. */
export interface Received {
  method: string | undefined;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
  at: number;
}

type Answer = (response: ServerResponse, received: Received) => void;

export const vaultKey = Buffer.alloc(32, 7);
export const vault = createAesVault(vaultKey);
export const log = pino({ level: "silent" });
export const ok: Answer = (response) => response.writeHead(204).end();
export const never: Answer = () => undefined;

export let stored: Awaited<ReturnType<typeof testDatabase>>;
export let cleanups: (() => Promise<unknown> | unknown)[];
let ahead: number;
export const clock = { now: () => new Date(Date.now() + ahead) };
/** Moves the sender's clock ahead. */
export function goAhead(milliseconds: number): void {
  ahead = milliseconds;
}

/** A fresh database for each test of the calling file. */
export function useWebhookDatabase(): void {
  beforeEach(async () => {
    ahead = 0;
    cleanups = [];
    stored = await testDatabase();
  });
  afterEach(async () => {
    for (const cleanup of cleanups.reverse()) await cleanup();
    await stored.drop();
  });
}

/** `most` is the highest number of concurrent requests. */
export async function receiver(answer: Answer = ok) {
  const received: Received[] = [];
  const state = { url: "", received, answer, open: 0, most: 0 };
  const server = createServer(async (request, response) => {
    state.open += 1;
    state.most = Math.max(state.most, state.open);
    response.on("close", () => {
      state.open -= 1;
    });
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const one = { method: request.method, url: request.url ?? "", headers: request.headers, body, at: Date.now() };
    received.push(one);
    state.answer(response, one);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  cleanups.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return state;
}

export async function startSender(over: Partial<WebhookSenderDeps> & { allowPrivateNetwork?: boolean } = {}) {
  const net = createNet({ allowPrivateNetwork: over.allowPrivateNetwork ?? true });
  const sender = await startWebhookSender({
    database: stored.database,
    net,
    vault,
    clock,
    log,
    nodeId: "node-a",
    renewPayload: async (payload) => payload,
    describeRunEvent: async () => undefined,
    timeoutMs: 1_000,
    schedule: [50, 50],
    ...over,
  });
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= sender.stop().then(() => net.close());
    return stopping;
  };
  cleanups.push(stop);
  return { stop };
}

export const webhooks = () => openWebhooks({ database: stored.database, vault, clock });

export function newDelivery(
  url: string,
  over: Partial<Webhook> = {},
  { userId = "usr_ann", payload = {} as object } = {},
) {
  const predictionId = newId("prediction");
  const webhook = webhooks().seal({ userId, predictionId }, { url, headers: {}, query_params: {}, ...over });
  return {
    userId,
    predictionId,
    modelName: "ann/model",
    webhook,
    payload: { ...payload, prediction_id: predictionId },
  };
}

export async function enqueue(...parameters: Parameters<typeof newDelivery>): Promise<string> {
  const delivery = newDelivery(...parameters);
  await stored.database.transaction((tx) => enqueueDelivery(tx, delivery));
  return delivery.predictionId;
}

export async function find(predictionId: string, userId = "usr_ann") {
  const { deliveries } = await webhooks().list({ userId, onlyKeyIds: null }, { predictionId }, { limit: 1, offset: 0 });
  const [delivery] = deliveries;
  if (!delivery) throw new Error("delivery not found");
  return delivery;
}

export const untilEnded = (predictionId: string, userId?: string) =>
  vi.waitFor(
    async () => {
      const delivery = await find(predictionId, userId);
      expect(delivery.status).not.toBe("pending");
      return delivery;
    },
    { timeout: 30_000, interval: 10 },
  );
export const untilReceived = (from: { received: Received[] }, count: number, timeout = 30_000) =>
  vi.waitFor(() => expect(from.received.length).toBeGreaterThanOrEqual(count), { timeout, interval: 5 });
export { setTimeout as pause } from "node:timers/promises";

export function verify({ body, headers }: Received, secret: string): unknown {
  return new Verifier(secret).verify(body, headers as Record<string, string>);
}
