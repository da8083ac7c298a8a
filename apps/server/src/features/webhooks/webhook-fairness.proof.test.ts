import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { describe, expect, test, vi } from "vitest";
import { enqueueDeliveries } from "./index.ts";
import {
  cleanups,
  enqueue,
  find,
  never,
  newDelivery,
  ok,
  pause,
  type Received,
  receiver,
  startSender,
  stored,
  untilEnded,
  untilReceived,
  useWebhookDatabase,
  vaultKey,
} from "./webhook-sender.fixture.ts";

useWebhookDatabase();

describe("restarts", () => {
  test("a retry outlives its sender", async () => {
    const site = await receiver((response) => response.writeHead(site.received.length === 1 ? 500 : 200).end());
    const first = await startSender({ schedule: [700] });
    const predictionId = await enqueue(site.url);
    await vi.waitFor(async () => expect((await find(predictionId)).attempts).toBe(1), { timeout: 20_000 });
    await first.stop();
    await startSender({ nodeId: "node-b", schedule: [700] });
    expect(await untilEnded(predictionId)).toMatchObject({ status: "delivered", attempts: 2 });
    const [one, two] = site.received as [Received, Received];
    expect(two.at - one.at).toBeGreaterThanOrEqual(560);
  });

  test("stopping lets an attempt end and stores its result", async () => {
    const site = await receiver((response) => setTimeout(() => response.writeHead(200).end(), 300));
    const sender = await startSender();
    const predictionId = await enqueue(site.url);
    await untilReceived(site, 1);
    expect((await find(predictionId)).nextAttemptAt).toBeNull();
    await sender.stop();
    expect(await find(predictionId)).toMatchObject({ status: "delivered", attempts: 1 });
  });

  test("deliveries of a killed process are sent by another node after the lease ends", async () => {
    const site = await receiver(never);
    const leaseMs = 6_000;
    const child = startSenderProcess({ leaseMs, timeoutMs: 60_000 });
    const predictionId = await enqueue(site.url);
    await untilReceived(site, 1, 60_000);
    child.kill("SIGKILL");
    await once(child, "exit");
    site.answer = ok;
    await startSender({ nodeId: "node-b", leaseMs });
    await pause(500);
    expect(site.received).toHaveLength(1);
    expect(await untilEnded(predictionId)).toMatchObject({ status: "delivered", attempts: 2 });
    const [one, two] = site.received as [Received, Received];
    expect(two.headers["webhook-id"]).toBe(one.headers["webhook-id"]);
    expect(two.at - one.at).toBeGreaterThan(leaseMs - 500);
    expect(two.at - one.at).toBeLessThan(leaseMs + 20_000);
  });

  /** A separate process, so that it can be killed. */
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
        renewPayload: async (payload) => payload,
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

/** Receivers that do not answer until they are released. A sender waits for its attempts before it stops. */
async function silentReceivers(count: number) {
  const held: ServerResponse[] = [];
  const hold = (response: ServerResponse) => held.push(response);
  const sites = await Promise.all(Array.from({ length: count }, () => receiver(hold)));
  const release = () => {
    for (const site of sites) site.answer = ok;
    for (const response of held) response.writeHead(204).end();
  };
  return { sites, release };
}

describe("many at once", () => {
  test("a dead destination delays no other, not even of the same user", async () => {
    const dead = await receiver(never);
    const alive = await receiver();
    const limits = { total: 12, perReceiver: 2, perDestination: 2, perUser: 8 };
    await startSender({ timeoutMs: 10_000, limits });
    const crowd = Array.from({ length: 1_500 }, () => newDelivery(dead.url));
    await stored.database.transaction((tx) => enqueueDeliveries(tx, crowd));
    await untilReceived(dead, 2);
    const since = Date.now();
    const [own, other] = await Promise.all([enqueue(alive.url), enqueue(alive.url, {}, { userId: "usr_bob" })]);
    expect(await untilEnded(own)).toMatchObject({ status: "delivered" });
    expect(await untilEnded(other, "usr_bob")).toMatchObject({ status: "delivered" });
    expect(Date.now() - since).toBeLessThan(8_000);
    expect(dead.most).toBe(2);
  });

  test("one user's silent receiver does not delay other users of the same host", async () => {
    const host = await receiver((response, { url }) => url.startsWith("/dead") || response.writeHead(200).end());
    await startSender({ timeoutMs: 6_000 });
    const crowd = Array.from({ length: 12 }, () => newDelivery(`${host.url}/dead`));
    await stored.database.transaction((tx) => enqueueDeliveries(tx, crowd));
    await untilReceived(host, 4);
    const send = async () => {
      const since = Date.now();
      await untilEnded(await enqueue(`${host.url}/alive`, {}, { userId: "usr_bob" }), "usr_bob");
      return Date.now() - since;
    };
    // While the first attempts run, and again after they timed out.
    expect(await send()).toBeLessThan(5_000);
    await untilReceived(host, 6);
    expect(await send()).toBeLessThan(5_000);
  });

  test("a crowd of one user to a shared destination does not delay other users", async () => {
    const site = await receiver((response) => setTimeout(() => response.writeHead(200).end(), 20));
    const crowd = Array.from({ length: 200 }, () => newDelivery(site.url));
    await stored.database.transaction((tx) => enqueueDeliveries(tx, crowd));
    await startSender({ limits: { total: 16, perReceiver: 2, perDestination: 2, perUser: 8 } });
    await untilReceived(site, 2);
    const other = await enqueue(site.url, {}, { userId: "usr_bob" });
    await untilEnded(other, "usr_bob");
    expect(site.received.findIndex(({ body }) => JSON.parse(body).prediction_id === other)).toBeLessThan(60);
    await untilReceived(site, 201);
    expect(site.most).toBe(2);
  });

  test("one user with many destinations does not delay other users", async () => {
    const slowly: Parameters<typeof receiver>[0] = (response) => setTimeout(() => response.writeHead(200).end(), 50);
    const many = await Promise.all(Array.from({ length: 12 }, () => receiver(slowly)));
    const one = await receiver(slowly);
    const crowd = many.map(({ url }) => newDelivery(url));
    const few = Array.from({ length: 4 }, () => newDelivery(one.url, {}, { userId: "usr_bob" }));
    await stored.database.transaction((tx) => enqueueDeliveries(tx, [...crowd, ...few]));
    await startSender({ limits: { total: 2, perReceiver: 2, perDestination: 2, perUser: 8 } });
    await untilReceived(one, 4);
    expect(many.filter(({ received }) => received.length > 0).length).toBeLessThan(8);
  });

  test("a user has at most as many attempts as the plan's parallel limit", async () => {
    await stored.database.sql`
      insert into users (id, username, role, plan, created_at) values ('usr_free', 'free-user', 'user', 'free', now())`;
    const { sites: dead, release } = await silentReceivers(8);
    const crowd = dead.map(({ url }) => newDelivery(url, {}, { userId: "usr_free" }));
    await stored.database.transaction((tx) => enqueueDeliveries(tx, crowd));
    await startSender({ timeoutMs: 30_000 });
    const open = () => dead.reduce((sum, each) => sum + each.open, 0);
    await vi.waitFor(() => expect(open()).toBe(4), { timeout: 20_000 });
    await pause(300);
    expect(open()).toBe(4);
    release();
  });

  test("a user with many dead receivers leaves slots for other users", async () => {
    const dead = await Promise.all(Array.from({ length: 6 }, () => receiver(never)));
    const alive = await receiver();
    await startSender({ timeoutMs: 10_000, limits: { total: 6, perReceiver: 2, perDestination: 2, perUser: 4 } });
    const crowd = dead.flatMap(({ url }) => Array.from({ length: 5 }, () => newDelivery(url)));
    await stored.database.transaction((tx) => enqueueDeliveries(tx, crowd));
    await vi.waitFor(() => expect(dead.reduce((sum, { open }) => sum + open, 0)).toBe(4), { timeout: 9_000 });
    const since = Date.now();
    await untilEnded(await enqueue(alive.url, {}, { userId: "usr_bob" }), "usr_bob");
    expect(Date.now() - since).toBeLessThan(8_000);
    expect(dead.reduce((sum, { most }) => sum + most, 0)).toBe(4);
  });

  describe("of one user to many silent receivers", () => {
    const limits = { total: 16, perReceiver: 2, perDestination: 2, perUser: 4 };
    const asked = (sites: { received: Received[] }[]) => sites.reduce((sum, { received }) => sum + received.length, 0);

    test("leave slots for the same user's receivers that answer", async () => {
      const { sites: dead, release } = await silentReceivers(4);
      const alive = await receiver();
      await startSender({ timeoutMs: 10_000, limits, schedule: Array.from({ length: 20 }, () => 10) });
      const crowd = dead.map(({ url }) => newDelivery(url));
      await stored.database.transaction((tx) => enqueueDeliveries(tx, crowd));
      // All four have timed out once, and two are tried again.
      await vi.waitFor(() => expect(asked(dead)).toBe(6), { timeout: 40_000 });
      for (let n = 0; n < 3; n++) await untilEnded(await enqueue(alive.url));
      expect(asked(dead)).toBe(6);
      release();
    });

    test("let a new receiver go first", async () => {
      const dead = await Promise.all(Array.from({ length: 12 }, () => receiver(never)));
      const fresh = await receiver();
      await startSender({ timeoutMs: 1_500, limits, schedule: Array.from({ length: 20 }, () => 10) });
      const crowd = dead.map(({ url }) => newDelivery(url));
      await stored.database.transaction((tx) => enqueueDeliveries(tx, crowd));
      await vi.waitFor(() => expect(asked(dead)).toBeGreaterThanOrEqual(14), { timeout: 40_000, interval: 5 });
      const before = asked(dead);
      await untilEnded(await enqueue(fresh.url));
      expect(asked(dead) - before).toBeLessThanOrEqual(4);
    });
  });

  test("a receiver that timed out gets one attempt at a time until it answers", async () => {
    const site = await receiver(never);
    await startSender({ timeoutMs: 300, schedule: [50, 50, 50, 50] });
    const predictions = await Promise.all(Array.from({ length: 12 }, () => enqueue(site.url)));
    await untilReceived(site, 4);
    await vi.waitFor(() => expect(site.open).toBe(0), { timeout: 20_000, interval: 1 });
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
    // Long enough for a busy machine: an attempt that times out is sent again.
    const timeoutMs = 15_000;
    await Promise.all(["node-a", "node-b"].map((nodeId) => startSender({ nodeId, timeoutMs })));
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
      { timeout: 50_000 },
    );
    const ids = sites.flatMap(({ received }) => received.map((one) => one.headers["webhook-id"]));
    expect(ids).toHaveLength(400);
    expect(new Set(ids).size).toBe(400);
  });
});

test("deliveries that become due during a pass are sent at once", async () => {
  const site = await receiver((response) => response.writeHead(500).end());
  // Each retry becomes due within the time that a pass takes.
  const schedule = Array.from({ length: 120 }, (_, n) => 1 + (n % 6));
  await startSender({ schedule });
  expect(await untilEnded(await enqueue(site.url))).toMatchObject({ status: "failed", attempts: 121 });
});
