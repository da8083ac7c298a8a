import { Webhook as Verifier } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { type AttemptEnd, decideAfterAttempt, readRetryAfter, retrySchedule } from "./attempt.rules.ts";
import { addressOf, headersOf } from "./send-delivery.ts";
import { createSendSlots } from "./send-slots.ts";

const answered = (status: number, retryAfterMs?: number): AttemptEnd => ({
  kind: "answered",
  status,
  latencyMs: 3,
  retryAfterMs,
});
const unanswered = (reason: "timeout" | "address_refused" | "invalid_url"): AttemptEnd => ({
  kind: "unanswered",
  reason,
  message: `it was ${reason}`,
  latencyMs: 3,
});
const decide = (end: AttemptEnd, failures = 0, random = 0.5) =>
  decideAfterAttempt(end, failures, retrySchedule, random);

describe("after an attempt", () => {
  test.each([200, 201, 202, 204, 299])("%i is a success", (status) => {
    expect(decide(answered(status), 3)).toEqual({
      status: "delivered",
      failures: 3,
      retryInMs: null,
      lastStatus: status,
      lastError: null,
    });
  });

  test("410 ends the delivery", () => {
    expect(decide(answered(410))).toMatchObject({ status: "gone", retryInMs: null, lastStatus: 410 });
  });

  test.each([199, 300, 400, 401, 404, 409, 429, 500, 503])("%i is tried again", (status) => {
    expect(decide(answered(status))).toMatchObject({
      status: "pending",
      failures: 1,
      retryInMs: 5_000,
      lastError: expect.stringContaining(String(status)),
    });
  });

  test.each([301, 302, 303, 307, 308])("%i says that redirects are not followed", (status) => {
    expect(decide(answered(status))).toMatchObject({
      status: "pending",
      lastError: `The receiver answered ${status}: redirects are not followed`,
    });
  });

  test("retries follow after 5 s, 30 s, 5 m, 30 m, 2 h, 6 h and 24 h", () => {
    const pauses = [0, 1, 2, 3, 4, 5, 6, 7].map((failures) => decide(unanswered("timeout"), failures).retryInMs);
    expect(pauses).toEqual([5e3, 30e3, 300e3, 1_800e3, 7_200e3, 21_600e3, 86_400e3, null]);
    expect(decide(unanswered("timeout"), 7)).toMatchObject({ status: "failed", failures: 8 });
  });

  test("jitter changes a delay by up to a fifth", () => {
    expect(decide(answered(500), 0, 0).retryInMs).toBe(4_000);
    expect(decide(answered(500), 0, 1).retryInMs).toBe(6_000);
  });

  test.each(["address_refused", "invalid_url"] as const)("%s fails without retries", (reason) => {
    expect(decide(unanswered(reason))).toMatchObject({
      status: "failed",
      retryInMs: null,
      lastError: `it was ${reason}`,
    });
  });

  test("Retry-After can only lengthen a delay, up to a day", () => {
    expect(decide(answered(429, 60_000)).retryInMs).toBe(60_000);
    expect(decide(answered(429, 1_000)).retryInMs).toBe(5_000);
    expect(decide(answered(503, 1e12)).retryInMs).toBe(86_400_000);
  });

  test("Retry-After is seconds or a date", () => {
    const now = new Date("2026-01-01T00:00:00Z");
    expect(readRetryAfter("120", now)).toBe(120_000);
    expect(readRetryAfter("Thu, 01 Jan 2026 00:00:30 GMT", now)).toBe(30_000);
    expect(readRetryAfter("Thu, 01 Jan 2020 00:00:30 GMT", now)).toBe(0);
    expect(readRetryAfter(["7", "9"], now)).toBe(7_000);
    expect(readRetryAfter("Thursday, 01-Jan-26 00:00:30 GMT", now)).toBe(30_000);
    expect(readRetryAfter("Thu Jan  1 00:00:30 2026", now)).toBe(30_000);
    const none = ["soon", "soon 2099", "-5", "1.5", "2099-01-01", "Thu, 01 Jan 2099 25:00:00 GMT", "", undefined];
    for (const nothing of none) expect(readRetryAfter(nothing, now), nothing).toBeUndefined();
  });
});

describe("the request", () => {
  const webhook = (over: object) => ({ url: "https://a.example/x", headers: {}, query_params: {}, ...over });

  test("parameters follow those of the URL, which stay unchanged", () => {
    const query_params = { b: "2 & ü", a: "again" };
    expect(addressOf(webhook({ url: "https://a.example/x?a=%20+1#part", query_params })).search).toBe(
      "?a=%20+1&b=2+%26+%C3%BC&a=again",
    );
    expect(addressOf(webhook({ query_params })).href).toBe("https://a.example/x?b=2+%26+%C3%BC&a=again");
    expect(addressOf(webhook({ url: "https://a.example/x?a=1" })).href).toBe("https://a.example/x?a=1");
  });

  test("is signed with every secret", () => {
    const secrets = [41, 42].map((byte) => `whsec_${Buffer.alloc(32, byte).toString("base64")}`);
    const body = '{"text":"ü \\u0000"}';
    const headers = headersOf(webhook({}), { id: "dlv_1", body, at: new Date(), secrets });
    expect(headers["webhook-signature"]?.split(" ")).toHaveLength(2);
    for (const secret of secrets) expect(new Verifier(secret).verify(body, headers)).toEqual(JSON.parse(body));
    const foreign = new Verifier(`whsec_${Buffer.alloc(32, 43).toString("base64")}`);
    expect(() => foreign.verify(body, headers)).toThrow("No matching signature");
    const [first = ""] = secrets;
    expect(() => new Verifier(first).verify(`${body} `, headers)).toThrow("No matching signature");
  });

  test("user headers keep order and spelling; reserved ones are dropped", () => {
    const given = {
      "X-Second": "2",
      Authorization: "Bearer t",
      HOST: "evil.example",
      "Content-Type": "text/html",
      "content-length": "1",
      "Webhook-Signature": "v1,forged",
      "WEBHOOK-ID": "forged",
      Connection: "close",
      "Transfer-Encoding": "chunked",
      Expect: "100-continue",
      contents: "stays",
      "x-webhook-id": "stays",
    };
    const headers = headersOf(webhook({ headers: given }), {
      id: "dlv_1",
      body: "{}",
      at: new Date(5999),
      secrets: [],
    });
    expect(Object.entries(headers)).toEqual([
      ["X-Second", "2"],
      ["Authorization", "Bearer t"],
      ["contents", "stays"],
      ["x-webhook-id", "stays"],
      ["user-agent", "Gantry-Webhooks/1"],
      ["content-type", "application/json"],
      ["webhook-id", "dlv_1"],
      ["webhook-timestamp", "5"],
      ["webhook-signature", ""],
    ]);
    const own = headersOf(webhook({ headers: { "User-Agent": "mine" } }), {
      id: "dlv_1",
      body: "{}",
      at: new Date(),
      secrets: [],
    });
    expect(own).toMatchObject({ "User-Agent": "mine" });
    expect(own).not.toHaveProperty("user-agent");
  });
});

describe("slots", () => {
  const slots = () => createSendSlots({ total: 10, perDestination: 4, perReceiver: 3, perUser: 6 });
  const waiting = (destination: string, userId: string, due = 100, parallel: number | null = null) => ({
    destination,
    userId,
    due,
    parallel,
  });
  const allotted = (of: ReturnType<typeof slots>, ...given: ReturnType<typeof waiting>[]) =>
    Object.fromEntries(of.allot(given).map(({ destination, userId, count }) => [`${destination} ${userId}`, count]));

  test("are limited by receiver, destination, user, plan and in total", () => {
    expect(allotted(slots(), waiting("a", "ann"))).toEqual({ "a ann": 3 });
    expect(allotted(slots(), waiting("a", "ann", 2))).toEqual({ "a ann": 2 });
    expect(allotted(slots(), waiting("a", "ann"), waiting("a", "bob"))).toEqual({ "a ann": 2, "a bob": 2 });
    expect(allotted(slots(), ...["a", "b", "c"].map((name) => waiting(name, "ann")))).toEqual({
      "a ann": 2,
      "b ann": 2,
      "c ann": 2,
    });
    expect(allotted(slots(), ...["a", "b", "c"].map((name) => waiting(name, "ann", 9, 1)))).toSatisfy(
      (found: object) => Object.values(found).length === 1,
    );
    const many = Array.from({ length: 30 }, (_, n) => waiting(`d${n}`, `user${n}`));
    expect(slots().allot(many)).toHaveLength(10);
  });

  test("that are taken count until they are released", () => {
    const used = slots();
    const ann = { destination: "a", userId: "ann" };
    for (let n = 0; n < 3; n++) used.take(ann);
    expect(allotted(used, waiting("a", "ann"), waiting("a", "bob"))).toEqual({ "a bob": 1 });
    used.release(ann);
    expect(allotted(used, waiting("a", "ann"), waiting("a", "bob"))).toEqual({ "a bob": 2 });
    used.release(ann);
    used.release(ann);
    expect(allotted(used, waiting("a", "ann"))).toEqual({ "a ann": 3 });
  });

  test("go to the user with the fewest running attempts", () => {
    const used = slots();
    for (let n = 0; n < 9; n++) used.take({ destination: `d${n}`, userId: "ann" });
    expect(allotted(used, waiting("x", "ann"), waiting("y", "bob"))).toEqual({ "y bob": 1 });
  });

  test("are one for a receiver that timed out, until it answers", () => {
    const used = slots();
    const ann = { destination: "a", userId: "ann" };
    used.note(ann, false);
    expect(allotted(used, waiting("a", "ann"), waiting("a", "bob"))).toEqual({ "a ann": 1, "a bob": 3 });
    used.take(ann);
    expect(allotted(used, waiting("a", "ann"))).toEqual({});
    used.note(ann, true);
    expect(allotted(used, waiting("a", "ann"))).toEqual({ "a ann": 2 });
  });

  test("of one user are at most half for receivers that timed out, and those come last", () => {
    const used = slots();
    const dead = ["a", "b", "c", "d", "e"];
    for (const destination of dead) used.note({ destination, userId: "ann" }, false);
    const waitingDead = dead.map((name) => waiting(name, "ann"));
    expect(Object.values(allotted(used, ...waitingDead))).toEqual([1, 1, 1]);
    expect(allotted(used, ...waitingDead, waiting("x", "ann"), waiting("y", "ann"))).toEqual({
      "x ann": 3,
      "y ann": 3,
    });
  });

  test("do not remember receivers without limit", () => {
    const used = slots();
    for (let n = 0; n < 2500; n++) used.note({ destination: `d${n}`, userId: "ann" }, false);
    expect(allotted(used, waiting("d0", "ann"))).toEqual({ "d0 ann": 3 });
    expect(allotted(used, waiting("d2499", "ann"))).toEqual({ "d2499 ann": 1 });
  });
});
