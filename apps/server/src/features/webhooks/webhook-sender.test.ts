import { once } from "node:events";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { Webhook as Verifier } from "standardwebhooks";
import { describe, expect, test, vi } from "vitest";
import { selectWaiting } from "./claim-store.ts";
import { deleteDeliveries, enqueueDeliveries, enqueueDelivery } from "./index.ts";
import {
  enqueue,
  find,
  goAhead,
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
  verify,
  webhooks,
} from "./webhook-sender.fixture.ts";

useWebhookDatabase();

test("a delivery to a host of thousands of characters, which earlier versions accepted, does not stop the others", async () => {
  const site = await receiver();
  await startSender();
  const letters = Array.from({ length: 2_000 }, (_, n) => String.fromCharCode(0x4e00 + ((n * 7_919) % 20_000)));
  const endless = await enqueue(`http://${letters.join("")}.invalid/`);
  const usual = await enqueue(site.url);
  expect(await untilEnded(usual)).toMatchObject({ status: "delivered" });
  expect(await untilEnded(endless)).toMatchObject({ status: "failed" });
});

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

  test("keeps what each attempt met, and hides the values of the owner's headers", async () => {
    const site = await receiver();
    let answered = 0;
    site.answer = (response) => {
      answered += 1;
      response.statusCode = answered === 1 ? 503 : 200;
      response.end(answered === 1 ? `busy\0${"x".repeat(6_000)}` : "thanks");
    };
    await startSender();
    const predictionId = await enqueue(site.url, { headers: { Authorization: "Bearer t0k" } }, { payload: { a: 1 } });
    const { id } = await untilEnded(predictionId);
    const details = await webhooks().read({ userId: "usr_ann", onlyKeyIds: null }, id);
    expect(details).toMatchObject({
      status: "delivered",
      payload: { a: 1, prediction_id: predictionId },
      headers: { Authorization: "••••••", "content-type": "application/json", "webhook-id": id },
      attemptLog: [
        { number: 2, status: 200, error: null, responseBody: "thanks", at: expect.any(Date) },
        { number: 1, status: 503, error: "The receiver answered 503", latencyMs: expect.any(Number) },
      ],
    });
    expect(details.attemptLog[1]?.responseBody).toBe(`busy\ufffd${"x".repeat(4 * 1024 - 5)}`);
    await expect(webhooks().read({ userId: "usr_bob", onlyKeyIds: null }, id)).rejects.toMatchObject({
      type: "not_found",
    });
  });

  test("keeps the last 50 attempts, and names those without a stored result", async () => {
    const site = await receiver();
    const predictionId = await enqueue(site.url);
    const { id } = await find(predictionId);
    await stored.database.sql`update webhook_deliveries set attempts = 60 where id = ${id}`;
    await startSender();
    await untilEnded(predictionId);
    const { attemptLog } = await webhooks().read({ userId: "usr_ann", onlyKeyIds: null }, id);
    expect(attemptLog.map(({ number }) => number)).toEqual(Array.from({ length: 50 }, (_, n) => 61 - n));
    expect(attemptLog[0]).toMatchObject({ at: expect.any(Date), error: null });
    expect(attemptLog[1]).toMatchObject({ at: null, error: expect.stringContaining("was not stored") });
  });

  test("is a signed event that is sent once, for a test", async () => {
    const site = await receiver();
    site.answer = (response) => {
      response.statusCode = 500;
      response.end();
    };
    await startSender();
    const { predictionId } = await webhooks().sendTest("usr_ann", `${site.url}/hook`);
    expect(await untilEnded(predictionId)).toMatchObject({ status: "failed", attempts: 1 });
    expect(site.received).toHaveLength(1);
    const [one] = site.received as [Received];
    const [secret = ""] = await webhooks().secrets("usr_ann");
    expect(verify(one, secret)).toMatchObject({
      test: true,
      prediction_id: predictionId,
      infer_details: { status: 200 },
    });
  });

  test("is refused while ten test events wait", async () => {
    for (let n = 0; n < 10; n++) await webhooks().sendTest("usr_tester", "https://receiver.example");
    await expect(webhooks().sendTest("usr_tester", "https://receiver.example")).rejects.toMatchObject({
      type: "rate_limit",
    });
    await stored.database.sql`delete from webhook_deliveries where user_id = 'usr_tester'`;
  });

  test("is created once per prediction, and not if the transaction fails", async () => {
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

  test("is stored without its credentials", async () => {
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
      lastError: "The server failed to prepare the delivery",
      url: site.url,
    });
    expect(site.received).toHaveLength(0);
  });
});

describe("failures", () => {
  test("are retried with the same id and bytes, and a new timestamp and signature", async () => {
    const site = await receiver((response) => {
      response.writeHead(site.received.length < 3 ? 500 : 200).end("said something");
    });
    await startSender({ schedule: [40, 1_100] });
    const predictionId = await enqueue(site.url);
    expect(await untilEnded(predictionId)).toMatchObject({ status: "delivered", attempts: 3, lastError: null });
    const [first, second, third] = site.received as [Received, Received, Received];
    expect(second.at - first.at).toBeGreaterThanOrEqual(32);
    expect(third.at - second.at).toBeGreaterThanOrEqual(880);
    expect(third.at - second.at).toBeLessThan(20_000);
    expect(new Set(site.received.map((one) => one.body)).size).toBe(1);
    expect(new Set(site.received.map((one) => one.headers["webhook-id"])).size).toBe(1);
    expect(third.headers["webhook-timestamp"]).not.toBe(first.headers["webhook-timestamp"]);
    const [secret = ""] = await webhooks().secrets("usr_ann");
    for (const one of site.received) verify(one, secret);
  });

  test("are shown while a retry is pending and after the last one", async () => {
    const site = await receiver((response) => response.writeHead(503).end());
    const sender = await startSender({ schedule: [60_000] });
    const predictionId = await enqueue(site.url);
    await vi.waitFor(async () => expect((await find(predictionId)).attempts).toBe(1), { timeout: 20_000 });
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

  test("410 ends the delivery as gone", async () => {
    const site = await receiver((response) => response.writeHead(410).end());
    await startSender();
    expect(await untilEnded(await enqueue(site.url))).toMatchObject({ status: "gone", attempts: 1 });
    await pause(150);
    expect(site.received).toHaveLength(1);
  });

  test("a redirect is a failure and is not followed", async () => {
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

  test("a private address, also by name, is refused at once", async () => {
    const site = await receiver();
    await startSender({ allowPrivateNetwork: false });
    const port = site.url.split(":").at(-1);
    const entryFor = (url: string) => `${new URL(url).hostname}:${new URL(url).port || 80}`;
    for (const url of [site.url, `http://localhost:${port}`, "http://169.254.169.254/latest", "http://[::1]:1/"]) {
      expect(await untilEnded(await enqueue(url))).toMatchObject({
        status: "failed",
        attempts: 1,
        lastError: expect.stringContaining(
          `The operator can allow it: add ${entryFor(url)} to GANTRY_ALLOW_PRIVATE_NETWORK`,
        ),
      });
    }
    expect(site.received).toHaveLength(0);
  });

  test("include timeouts, refused connections and broken answers", async () => {
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
    expect(absent).toMatchObject({ status: "failed", lastError: expect.stringMatching(/refused$/) });
    expect(broken).toMatchObject({ status: "failed", lastError: "The server's answer is incomplete" });
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

  test("a 2xx counts even if its body is endless or slow", async () => {
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
    // Connections are closed by size or time.
    await vi.waitFor(() => expect([endless.open, hanging.open]).toEqual([0, 0]), { timeout: 20_000 });
  });
});

describe("secrets", () => {
  test("the first one is created once, also by concurrent calls", async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => webhooks().secrets("usr_ann")));
    expect(new Set(all.flat()).size).toBe(1);
    const [secret = ""] = all[0] ?? [];
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]+=*$/);
    expect(Buffer.from(secret.slice(6), "base64")).toHaveLength(32);
    expect(await webhooks().secrets("usr_bob")).not.toEqual([secret]);
  });

  test("after a rotation the old one signs for another day", async () => {
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

    goAhead(24 * 3_600_000 + 1_000);
    expect(await webhooks().secrets("usr_ann")).toEqual([fresh]);
    await untilEnded(await enqueue(site.url));
    const later = site.received[1] as Received;
    expect(later.headers["webhook-signature"]).toBe(signed(later, fresh));
  });

  test("concurrent rotations are serialised and stop at ten active secrets", async () => {
    const ends = await Promise.allSettled(Array.from({ length: 12 }, () => webhooks().rotateSecret("usr_ann")));
    expect(ends.filter((end) => end.status === "fulfilled")).toHaveLength(9);
    for (const end of ends) if (end.status === "rejected") expect(end.reason).toMatchObject({ type: "conflict" });
    expect(new Set(await webhooks().secrets("usr_ann")).size).toBe(10);
    goAhead(25 * 3_600_000);
    expect(await webhooks().rotateSecret("usr_ann")).toHaveLength(2);
  });
});

describe("resending", () => {
  const ann = { userId: "usr_ann", onlyKeyIds: null };

  test("uses the same id and bytes, and a new schedule", async () => {
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

  test("during an attempt starts another one after it", async () => {
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

  test("sends a pending retry at once", async () => {
    const site = await receiver((response) => response.writeHead(site.received.length === 1 ? 500 : 200).end());
    await startSender({ schedule: [600_000] });
    const predictionId = await enqueue(site.url);
    await vi.waitFor(async () => expect((await find(predictionId)).attempts).toBe(1), { timeout: 20_000 });
    await webhooks().resend(ann, (await find(predictionId)).id);
    expect(await untilEnded(predictionId)).toMatchObject({ status: "delivered", attempts: 2 });
  });
});

describe("of one user to very many receivers", () => {
  const insert = (count: number, dueInMs: number) => stored.database.sql`
    insert into webhook_deliveries (id, user_id, prediction_id, model_name, destination, target, payload, due_at)
    select 'dlv_' || n, 'usr_ann', 'pred_' || n, 'ann/model', 'https://receiver-' || n || '.test', '', '{}',
      now() + ${dueInMs} * interval '1 ms'
    from generate_series(1, ${count}::int) n`;

  test("deliveries that wait for a retry do not delay those of other users", async () => {
    await insert(130_000, 3_600_000);
    const site = await receiver();
    await startSender();
    await enqueue(site.url, {}, { userId: "usr_bob" });
    await untilReceived(site, 1, 5_000);
  });

  test("due deliveries leave other users their turn, and a pass reads a bounded number of receivers", async () => {
    await insert(6_000, -60_000);
    await enqueue("http://127.0.0.1:9", {}, { userId: "usr_bob" });
    const { waiting } = await selectWaiting(stored.database.sql);
    expect(waiting).toHaveLength(501);
    expect(waiting).toContainEqual({ destination: "http://127.0.0.1:9", userId: "usr_bob", due: 1, parallel: null });
  });
});

test("old deliveries are deleted after they ended", async () => {
  const site = await receiver();
  const sender = await startSender();
  const [old, recent] = await Promise.all([enqueue(site.url), enqueue(site.url)]);
  await untilEnded(old);
  await untilEnded(recent);
  await sender.stop();
  const unsent = await enqueue(site.url);
  await stored.database.sql`
    update webhook_deliveries set created_at = now() - interval '31 days' where prediction_id in (${old}, ${unsent})`;
  expect(await deleteDeliveries(stored.database.sql, new Date(Date.now() - 30 * 86_400_000), 100)).toBe(1);
  await expect(find(old)).rejects.toThrow();
  await Promise.all([find(recent), find(unsent)]);
});
