import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { newId } from "@gantry/wire";
import { pino } from "pino";
import { Webhook as Verifier } from "standardwebhooks";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { createNet } from "../../engines/net/create-net.ts";
import { createAesVault } from "../../engines/vault/aes-vault.ts";
import {
  dropDeliveriesBefore,
  enqueueDeliveries,
  enqueueDelivery,
  openWebhooks,
  startWebhookSender,
  type Webhook,
  type WebhookSenderDeps,
} from "./index.ts";

interface Received {
  method: string | undefined;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
  at: number;
}

type Answer = (response: ServerResponse, received: Received) => void;

const vaultKey = Buffer.alloc(32, 7);
const vault = createAesVault(vaultKey);
const log = pino({ level: "silent" });
const ok: Answer = (response) => response.writeHead(204).end();
const never: Answer = () => undefined;

let stored: Awaited<ReturnType<typeof testDatabase>>;
let cleanups: (() => Promise<unknown> | unknown)[];
let ahead: number;
const clock = { now: () => new Date(Date.now() + ahead) };

beforeEach(async () => {
  ahead = 0;
  cleanups = [];
  stored = await testDatabase();
});
afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  await stored.drop();
});

/** A receiver that answers as told; `most` is how many it was ever asked at the same time. */
async function receiver(answer: Answer = ok) {
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

async function startSender(over: Partial<WebhookSenderDeps> & { allowPrivateNetwork?: boolean } = {}) {
  const net = createNet({ allowPrivateNetwork: over.allowPrivateNetwork ?? true });
  const sender = await startWebhookSender({
    database: stored.database,
    net,
    vault,
    clock,
    log,
    nodeId: "node-a",
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

const webhooks = () => openWebhooks({ database: stored.database, vault, clock });

function newDelivery(url: string, over: Partial<Webhook> = {}, { userId = "usr_ann", payload = {} as object } = {}) {
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

async function enqueue(...parameters: Parameters<typeof newDelivery>): Promise<string> {
  const delivery = newDelivery(...parameters);
  await stored.database.transaction((tx) => enqueueDelivery(tx, delivery));
  return delivery.predictionId;
}

async function find(predictionId: string, userId = "usr_ann") {
  const { deliveries } = await webhooks().list({ userId, models: null }, { predictionId }, { limit: 1, offset: 0 });
  const [delivery] = deliveries;
  if (!delivery) throw new Error("there is no such delivery");
  return delivery;
}

const untilEnded = (predictionId: string, userId?: string) =>
  vi.waitFor(
    async () => {
      const delivery = await find(predictionId, userId);
      expect(delivery.status).not.toBe("pending");
      return delivery;
    },
    { timeout: 10_000, interval: 10 },
  );
const untilReceived = (from: { received: Received[] }, count: number, timeout = 10_000) =>
  vi.waitFor(() => expect(from.received.length).toBeGreaterThanOrEqual(count), { timeout, interval: 5 });
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

function verify({ body, headers }: Received, secret: string): unknown {
  return new Verifier(secret).verify(body, headers as Record<string, string>);
}

describe("a delivery", () => {
  test("is a signed POST of the payload, in its order, with the given headers and parameters", async () => {
    const site = await receiver();
    await startSender();
    const payload = {
      infer_details: { status: 200 },
      response: { image: "s3://ü/1" },
      aa: "last but two",
      model: "a/m",
    };
    const predictionId = await enqueue(
      `${site.url}/hook/path?own=%201`,
      { headers: { Authorization: "Bearer t0k", "Webhook-Id": "forged" }, query_params: { z: "1", a: "ü" } },
      { payload },
    );
    const delivery = await untilEnded(predictionId);
    expect(delivery).toMatchObject({ status: "delivered", attempts: 1, lastError: null, nextAttemptAt: null });
    expect(delivery.latencyMs).toBeGreaterThanOrEqual(0);
    expect(delivery.url).toBe(`${site.url}/hook/path?own=%201`);
    expect(site.received).toHaveLength(1);
    const [one] = site.received as [Received];
    expect(one).toMatchObject({ method: "POST", url: "/hook/path?own=%201&z=1&a=%C3%BC" });
    expect(one.body).toBe(JSON.stringify({ ...payload, prediction_id: predictionId }));
    expect(one.headers).toMatchObject({
      authorization: "Bearer t0k",
      "content-type": "application/json",
      "webhook-id": delivery.id,
      host: site.url.slice("http://".length),
    });
    const [secret = ""] = await webhooks().secrets("usr_ann");
    expect(verify(one, secret)).toEqual(JSON.parse(one.body));
  });

  test("is one for a prediction, however often it is enqueued, and none when the transaction fails", async () => {
    const site = await receiver();
    const delivery = newDelivery(site.url);
    await stored.database.transaction((tx) => enqueueDeliveries(tx, [delivery, newDelivery(site.url)]));
    await stored.database.transaction((tx) => enqueueDeliveries(tx, [delivery]));
    await stored.database.transaction((tx) => enqueueDeliveries(tx, []));
    const lost = newDelivery(site.url);
    await expect(
      stored.database.transaction(async (tx) => {
        await enqueueDelivery(tx, lost);
        throw new Error("rolled back");
      }),
    ).rejects.toThrow("rolled back");
    await startSender();
    await untilEnded(delivery.predictionId);
    await untilReceived(site, 2);
    await pause(100);
    expect(site.received).toHaveLength(2);
    await expect(find(lost.predictionId)).rejects.toThrow();
  });

  test("lies in the table without its credentials", async () => {
    await enqueue("https://receiver.example/T0P/path?token=s3cret-q", {
      headers: { Authorization: "Bearer s3cret-h" },
      query_params: { key: "s3cret-p" },
    });
    const [row] = await stored.database.sql<{ text: string; target: Buffer }[]>`
      select d::text as text, target from webhook_deliveries d`;
    expect(row?.text).toContain("https://receiver.example");
    for (const text of [row?.text, row?.target.toString("latin1")]) {
      expect(text).not.toMatch(/s3cret|T0P|Authorization/);
    }
    await webhooks().secrets("usr_ann");
    const [secret] = await stored.database.sql<{ text: string }[]>`
      select encode(sealed, 'escape') as text from webhook_secrets`;
    expect(secret?.text).not.toContain("whsec_");
  });

  test("sealed for one prediction cannot be sent as another's", async () => {
    const site = await receiver();
    const { webhook } = newDelivery(site.url, { headers: { authorization: "theirs" } });
    const moved = { ...newDelivery(site.url), webhook };
    await stored.database.transaction((tx) => enqueueDelivery(tx, moved));
    await startSender({ schedule: [] });
    const ended = await untilEnded(moved.predictionId);
    expect(ended).toMatchObject({
      status: "failed",
      lastError: "The delivery could not be prepared by the server",
      url: site.url,
    });
    expect(site.received).toHaveLength(0);
  });
});

describe("failures", () => {
  test("are retried under the same id with the same bytes, each with a time and signature of its own", async () => {
    const site = await receiver((response) => {
      response.writeHead(site.received.length < 3 ? 500 : 200).end("said something");
    });
    await startSender({ schedule: [40, 1_100] });
    const predictionId = await enqueue(site.url);
    expect(await untilEnded(predictionId)).toMatchObject({ status: "delivered", attempts: 3, lastError: null });
    const [first, second, third] = site.received as [Received, Received, Received];
    expect(second.at - first.at).toBeGreaterThanOrEqual(32);
    expect(third.at - second.at).toBeGreaterThanOrEqual(880);
    expect(third.at - second.at).toBeLessThan(2_500);
    expect(new Set(site.received.map((one) => one.body)).size).toBe(1);
    expect(new Set(site.received.map((one) => one.headers["webhook-id"])).size).toBe(1);
    expect(third.headers["webhook-timestamp"]).not.toBe(first.headers["webhook-timestamp"]);
    const [secret = ""] = await webhooks().secrets("usr_ann");
    for (const one of site.received) verify(one, secret);
  });

  test("are shown while it waits for its retry, and at last when it is given up", async () => {
    const site = await receiver((response) => response.writeHead(503).end());
    const sender = await startSender({ schedule: [60_000] });
    const predictionId = await enqueue(site.url);
    await vi.waitFor(async () => expect((await find(predictionId)).attempts).toBe(1), { timeout: 5_000 });
    const waiting = await find(predictionId);
    expect(waiting).toMatchObject({ status: "pending", lastError: "The receiver answered 503" });
    const inMs = (waiting.nextAttemptAt?.getTime() ?? 0) - Date.now();
    expect(inMs).toBeGreaterThan(40_000);
    expect(inMs).toBeLessThan(75_000);
    await sender.stop();
    await stored.database.sql`update webhook_deliveries set due_at = now()`;
    await startSender({ schedule: [10] });
    expect(await untilEnded(predictionId)).toMatchObject({ status: "failed", attempts: 2, nextAttemptAt: null });
  });

  test("410 ends it as gone", async () => {
    const site = await receiver((response) => response.writeHead(410).end());
    await startSender();
    expect(await untilEnded(await enqueue(site.url))).toMatchObject({ status: "gone", attempts: 1 });
    await pause(150);
    expect(site.received).toHaveLength(1);
  });

  test("a redirect is one, and is not followed", async () => {
    const target = await receiver();
    const site = await receiver((response) => response.writeHead(307, { location: target.url }).end());
    await startSender({ schedule: [10] });
    expect(await untilEnded(await enqueue(site.url))).toMatchObject({
      status: "failed",
      attempts: 2,
      lastError: "The receiver answered 307: redirects are not followed",
    });
    expect(target.received).toHaveLength(0);
  });

  test("a private address is refused at once, by name too, and nothing is sent", async () => {
    const site = await receiver();
    await startSender({ allowPrivateNetwork: false });
    const port = site.url.split(":").at(-1);
    for (const url of [site.url, `http://localhost:${port}`, "http://169.254.169.254/latest", "http://[::1]:1/"]) {
      expect(await untilEnded(await enqueue(url))).toMatchObject({
        status: "failed",
        attempts: 1,
        lastError: expect.stringContaining("not on the public network"),
      });
    }
    expect(site.received).toHaveLength(0);
  });

  test("a receiver that does not answer in time, is not there, or breaks off", async () => {
    const silent = await receiver(never);
    const closed = createTcpServer().listen(0, "127.0.0.1");
    await once(closed, "listening");
    const { port } = closed.address() as AddressInfo;
    closed.close();
    await once(closed, "close");
    const breaking = await receiver((response) => response.destroy());
    await startSender({ schedule: [], timeoutMs: 200 });
    const [late, absent, broken] = await Promise.all(
      [silent.url, `http://127.0.0.1:${port}`, breaking.url].map(async (url) => untilEnded(await enqueue(url))),
    );
    expect(late).toMatchObject({ status: "failed", lastError: "The server did not answer in time" });
    expect(late?.latencyMs).toBeGreaterThanOrEqual(190);
    expect(absent).toMatchObject({ status: "failed", lastError: "The server could not be reached" });
    expect(broken).toMatchObject({ status: "failed", lastError: "The server broke off its answer" });
  });

  test("Retry-After is honoured", async () => {
    const site = await receiver((response) => {
      if (site.received.length === 1) response.writeHead(429, { "retry-after": "1" }).end();
      else response.writeHead(200).end();
    });
    await startSender({ schedule: [10] });
    await untilEnded(await enqueue(site.url));
    const [first, second] = site.received as [Received, Received];
    expect(second.at - first.at).toBeGreaterThanOrEqual(950);
  });

  test("a 2xx counts when its status is there, however long or slow the rest of the answer", async () => {
    const endless = await receiver((response) => {
      response.writeHead(200);
      const more = setInterval(() => response.write("x".repeat(4096)), 5);
      response.on("close", () => clearInterval(more));
    });
    const hanging = await receiver((response) => response.writeHead(200).write("{"));
    await startSender({ schedule: [], timeoutMs: 400 });
    for (const site of [endless, hanging]) {
      expect(await untilEnded(await enqueue(site.url))).toMatchObject({ status: "delivered", attempts: 1 });
    }
    // The connections do not stay: they are cut by size and by time.
    await vi.waitFor(() => expect([endless.open, hanging.open]).toEqual([0, 0]), { timeout: 2_000 });
  });
});

describe("restarts", () => {
  test("a retry outlives its sender", async () => {
    const site = await receiver((response) => response.writeHead(site.received.length === 1 ? 500 : 200).end());
    const first = await startSender({ schedule: [700] });
    const predictionId = await enqueue(site.url);
    await vi.waitFor(async () => expect((await find(predictionId)).attempts).toBe(1), { timeout: 5_000 });
    await first.stop();
    await startSender({ nodeId: "node-b", schedule: [700] });
    expect(await untilEnded(predictionId)).toMatchObject({ status: "delivered", attempts: 2 });
    const [one, two] = site.received as [Received, Received];
    expect(two.at - one.at).toBeGreaterThanOrEqual(560);
  });

  test("stopping lets an attempt end and writes down its result", async () => {
    const site = await receiver((response) => setTimeout(() => response.writeHead(200).end(), 300));
    const sender = await startSender();
    const predictionId = await enqueue(site.url);
    await untilReceived(site, 1);
    expect((await find(predictionId)).nextAttemptAt).toBeNull();
    await sender.stop();
    expect(await find(predictionId)).toMatchObject({ status: "delivered", attempts: 1 });
  });

  test("what a killed process was sending is sent by another once its lease has lapsed", async () => {
    const site = await receiver(never);
    const leaseMs = 2_500;
    const child = startSenderProcess({ leaseMs, timeoutMs: 60_000 });
    const predictionId = await enqueue(site.url);
    await untilReceived(site, 1, 15_000);
    child.kill("SIGKILL");
    await once(child, "exit");
    site.answer = ok;
    await startSender({ nodeId: "node-b", leaseMs });
    await pause(500);
    expect(site.received).toHaveLength(1);
    expect(await untilEnded(predictionId)).toMatchObject({ status: "delivered", attempts: 1 });
    const [one, two] = site.received as [Received, Received];
    expect(two.headers["webhook-id"]).toBe(one.headers["webhook-id"]);
    expect(two.at - one.at).toBeGreaterThan(leaseMs - 500);
    expect(two.at - one.at).toBeLessThan(leaseMs + 3_000);
  });

  /** A node of its own, so that it can be killed as one. */
  function startSenderProcess(options: { leaseMs: number; timeoutMs: number }): ChildProcess {
    const at = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
    const script = `
      const { connect } = await import(${at("../../engines/database/index.ts")});
      const { createNet } = await import(${at("../../engines/net/create-net.ts")});
      const { createAesVault } = await import(${at("../../engines/vault/aes-vault.ts")});
      const { createLog } = await import(${at("../../kernel/log.ts")});
      const { startWebhookSender } = await import(${at("./index.ts")});
      await startWebhookSender({
        database: connect({ url: ${JSON.stringify(stored.url)}, poolSize: 2 }),
        net: createNet({ allowPrivateNetwork: true }),
        vault: createAesVault(Buffer.from(${JSON.stringify(vaultKey.toString("hex"))}, "hex")),
        clock: { now: () => new Date() },
        log: createLog("silent"),
        nodeId: "node-killed",
        leaseMs: ${options.leaseMs},
        timeoutMs: ${options.timeoutMs},
      });`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    cleanups.push(() => child.kill("SIGKILL"));
    return child;
  }
});

describe("many at once", () => {
  test("dead receivers hold up nobody else, not even the same user's", async () => {
    const dead = await receiver(never);
    const alive = await receiver();
    const limits = { total: 12, perLane: 2, perDestination: 2, perUser: 8 };
    await startSender({ timeoutMs: 3_000, limits });
    // More than are looked at without asking how they are spread.
    const crowd = Array.from({ length: 1_500 }, () => newDelivery(dead.url));
    await stored.database.transaction((tx) => enqueueDeliveries(tx, crowd));
    await untilReceived(dead, 2);
    const since = Date.now();
    const [own, other] = await Promise.all([enqueue(alive.url), enqueue(alive.url, {}, { userId: "usr_bob" })]);
    expect(await untilEnded(own)).toMatchObject({ status: "delivered" });
    expect(await untilEnded(other, "usr_bob")).toMatchObject({ status: "delivered" });
    expect(Date.now() - since).toBeLessThan(1_500);
    expect(dead.most).toBe(2);
  });

  test("one user's silent receiver holds up nobody else's on the same host", async () => {
    const host = await receiver((response, { url }) => url.startsWith("/dead") || response.writeHead(200).end());
    await startSender({ timeoutMs: 2_000 });
    const crowd = Array.from({ length: 12 }, () => newDelivery(`${host.url}/dead`));
    await stored.database.transaction((tx) => enqueueDeliveries(tx, crowd));
    await untilReceived(host, 4);
    const send = async () => {
      const since = Date.now();
      await untilEnded(await enqueue(`${host.url}/alive`, {}, { userId: "usr_bob" }), "usr_bob");
      return Date.now() - since;
    };
    // While the first attempts are open, and when it is known that nobody answers there.
    expect(await send()).toBeLessThan(1_000);
    await untilReceived(host, 6);
    expect(await send()).toBeLessThan(1_000);
  });

  test("one who sends a crowd to a shared receiver does not put others behind it", async () => {
    const site = await receiver((response) => setTimeout(() => response.writeHead(200).end(), 20));
    const crowd = Array.from({ length: 200 }, () => newDelivery(site.url));
    await stored.database.transaction((tx) => enqueueDeliveries(tx, crowd));
    await startSender({ limits: { total: 16, perLane: 2, perDestination: 2, perUser: 8 } });
    await untilReceived(site, 2);
    const other = await enqueue(site.url, {}, { userId: "usr_bob" });
    await untilEnded(other, "usr_bob");
    expect(site.received.length).toBeLessThan(60);
    await untilReceived(site, 201);
    expect(site.most).toBe(2);
  });

  test("a user with many dead receivers leaves room for the others", async () => {
    const dead = await Promise.all(Array.from({ length: 6 }, () => receiver(never)));
    const alive = await receiver();
    await startSender({ timeoutMs: 3_000, limits: { total: 6, perLane: 2, perDestination: 2, perUser: 4 } });
    const crowd = dead.flatMap(({ url }) => Array.from({ length: 5 }, () => newDelivery(url)));
    await stored.database.transaction((tx) => enqueueDeliveries(tx, crowd));
    await vi.waitFor(() => expect(dead.reduce((sum, { open }) => sum + open, 0)).toBe(4), { timeout: 2_000 });
    const since = Date.now();
    await untilEnded(await enqueue(alive.url, {}, { userId: "usr_bob" }), "usr_bob");
    expect(Date.now() - since).toBeLessThan(1_500);
    expect(dead.reduce((sum, { most }) => sum + most, 0)).toBe(4);
  });

  test("a receiver that was silent is asked by one at a time until it answers", async () => {
    const site = await receiver(never);
    await startSender({ timeoutMs: 300, schedule: [50, 50, 50, 50] });
    const predictions = await Promise.all(Array.from({ length: 12 }, () => enqueue(site.url)));
    await untilReceived(site, 4);
    await vi.waitFor(() => expect(site.open).toBe(0), { timeout: 2_000, interval: 1 });
    site.most = 0;
    await untilReceived(site, 6);
    expect(site.most).toBe(1);
    site.answer = ok;
    for (const predictionId of predictions) expect((await untilEnded(predictionId)).status).toBe("delivered");
  });

  test("two senders on one database send everything once", async () => {
    const sites = await Promise.all(
      Array.from({ length: 5 }, () =>
        receiver((response) => setTimeout(() => response.writeHead(200).end(), Math.random() * 10)),
      ),
    );
    await Promise.all([startSender({ nodeId: "node-a" }), startSender({ nodeId: "node-b" })]);
    const deliveries = Array.from({ length: 400 }, (_, n) =>
      newDelivery(sites[n % sites.length]?.url ?? "", {}, { userId: `usr_${n % 7}` }),
    );
    for (let n = 0; n < deliveries.length; n += 50) {
      await stored.database.transaction((tx) => enqueueDeliveries(tx, deliveries.slice(n, n + 50)));
    }
    await vi.waitFor(
      async () => {
        const [left] = await stored.database.sql<{ n: number }[]>`
          select count(*)::int as n from webhook_deliveries where status <> 'delivered'`;
        expect(left?.n).toBe(0);
      },
      { timeout: 15_000 },
    );
    const ids = sites.flatMap(({ received }) => received.map((one) => one.headers["webhook-id"]));
    expect(ids).toHaveLength(400);
    expect(new Set(ids).size).toBe(400);
  });
});

describe("secrets", () => {
  test("the first is made once, also by many at the same moment", async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => webhooks().secrets("usr_ann")));
    expect(new Set(all.flat()).size).toBe(1);
    const [secret = ""] = all[0] ?? [];
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]+=*$/);
    expect(Buffer.from(secret.slice(6), "base64")).toHaveLength(32);
    expect(await webhooks().secrets("usr_bob")).not.toEqual([secret]);
  });

  test("after a rotation the old one signs too for a day, then no longer", async () => {
    const site = await receiver();
    await startSender();
    const [old = ""] = await webhooks().secrets("usr_ann");
    const rotated = await webhooks().rotateSecret("usr_ann");
    expect(rotated).toEqual([expect.stringMatching(/^whsec_/), old]);
    const [fresh = ""] = rotated;
    await untilEnded(await enqueue(site.url));
    const [overlapping] = site.received as [Received];
    verify(overlapping, old);
    verify(overlapping, fresh);
    const signed = ({ body, headers }: Received, secret: string) =>
      new Verifier(secret).sign(
        String(headers["webhook-id"]),
        new Date(Number(headers["webhook-timestamp"]) * 1000),
        body,
      );
    expect(overlapping.headers["webhook-signature"]).toBe(`${signed(overlapping, fresh)} ${signed(overlapping, old)}`);

    ahead = 24 * 3_600_000 + 1_000;
    expect(await webhooks().secrets("usr_ann")).toEqual([fresh]);
    await untilEnded(await enqueue(site.url));
    const later = site.received[1] as Received;
    expect(later.headers["webhook-signature"]).toBe(signed(later, fresh));
  });

  test("rotations at the same moment come one after the other, and stop at ten that sign", async () => {
    const ends = await Promise.allSettled(Array.from({ length: 12 }, () => webhooks().rotateSecret("usr_ann")));
    expect(ends.filter((end) => end.status === "fulfilled")).toHaveLength(9);
    for (const end of ends) if (end.status === "rejected") expect(end.reason).toMatchObject({ type: "conflict" });
    expect(new Set(await webhooks().secrets("usr_ann")).size).toBe(10);
    ahead = 25 * 3_600_000;
    expect(await webhooks().rotateSecret("usr_ann")).toHaveLength(2);
  });
});

describe("sending again", () => {
  const ann = { userId: "usr_ann", models: null };

  test("goes out under the same id with the same bytes, with a fresh schedule", async () => {
    const site = await receiver();
    await startSender({ schedule: [10, 10] });
    const predictionId = await enqueue(site.url);
    const { id } = await untilEnded(predictionId);
    site.answer = (response) => response.writeHead(500).end();
    expect(await webhooks().resend(ann, id)).toMatchObject({ id, status: "pending", attempts: 1 });
    expect(await untilEnded(predictionId)).toMatchObject({ status: "failed", attempts: 4 });
    site.answer = ok;
    await webhooks().resend(ann, id);
    expect(await untilEnded(predictionId)).toMatchObject({ status: "delivered", attempts: 5 });
    expect(new Set(site.received.map((one) => one.headers["webhook-id"]))).toEqual(new Set([id]));
    expect(new Set(site.received.map((one) => one.body)).size).toBe(1);
  });

  test("while an attempt is under way it follows that one, and never runs beside it", async () => {
    const site = await receiver((response) => setTimeout(() => response.writeHead(200).end(), 300));
    await startSender();
    const predictionId = await enqueue(site.url);
    await untilReceived(site, 1);
    const { id } = await find(predictionId);
    await webhooks().resend(ann, id);
    await webhooks().resend(ann, id);
    await untilReceived(site, 2);
    expect(await untilEnded(predictionId)).toMatchObject({ status: "delivered", attempts: 2 });
    expect(site.most).toBe(1);
  });

  test("brings a waiting retry forward", async () => {
    const site = await receiver((response) => response.writeHead(site.received.length === 1 ? 500 : 200).end());
    await startSender({ schedule: [600_000] });
    const predictionId = await enqueue(site.url);
    await vi.waitFor(async () => expect((await find(predictionId)).attempts).toBe(1), { timeout: 5_000 });
    await webhooks().resend(ann, (await find(predictionId)).id);
    expect(await untilEnded(predictionId)).toMatchObject({ status: "delivered", attempts: 2 });
  });
});

test("what becomes due while the sender looks ahead is not slept through", async () => {
  const site = await receiver((response) => response.writeHead(500).end());
  // Each retry is due within the time that a look takes, sometimes between its two questions.
  const schedule = Array.from({ length: 120 }, (_, n) => 1 + (n % 6));
  await startSender({ schedule });
  expect(await untilEnded(await enqueue(site.url))).toMatchObject({ status: "failed", attempts: 121 });
});

test("old deliveries are forgotten once they have ended", async () => {
  const site = await receiver();
  const sender = await startSender();
  const [old, recent] = await Promise.all([enqueue(site.url), enqueue(site.url)]);
  await untilEnded(old);
  await untilEnded(recent);
  await sender.stop();
  const unsent = await enqueue(site.url);
  await stored.database.sql`
    update webhook_deliveries set created_at = now() - interval '31 days' where prediction_id in (${old}, ${unsent})`;
  expect(await dropDeliveriesBefore(stored.database.sql, new Date(Date.now() - 30 * 86_400_000))).toBe(1);
  await expect(find(old)).rejects.toThrow();
  await Promise.all([find(recent), find(unsent)]);
});
