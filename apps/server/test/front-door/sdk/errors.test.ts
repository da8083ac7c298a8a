import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient, type GantryClient, type GantryError } from "../../../../../packages/sdk/src/index.ts";
import { startCuttableLine } from "../../../../../packages/sdk/test/cuttable-line.ts";
import { failureOf } from "../../support/failure-of.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { cogModel, createModels, object, text } from "../../support/models.ts";
import { type SlowCog, startSlowCog } from "../../support/slow-cog.ts";
import { waitFor } from "../../support/wait-for.ts";

let gantry: GantryNode;
let cog: SlowCog;
let client: GantryClient;
let stranger: GantryClient;
let poor: GantryClient;

beforeAll(async () => {
  cog = await startSlowCog();
  gantry = await startGantry();
  const manifest = cogModel(cog.url, {
    pricing: { per_request: 0.01 },
    input: object({ prompt: text, count: { type: "integer", minimum: 1 } }, ["prompt"]),
  });
  await createModels(gantry, {
    slow: manifest,
    private: { ...manifest, visibility: "private" },
    inactive: { ...manifest, capacity: 0 },
    away: { ...manifest, backend: { type: "cog", url: "http://127.0.0.1:1" } },
  });
  const plan = await gantry.call("PUT", "/api/v2/admin/plans/single", {
    json: { requests_per_minute: null, parallel: 1 },
  });
  expect(plan.status, plan.text).toBe(201);
  client = createClient({ url: gantry.url, key: gantry.adminKey });
  stranger = createClient({ url: gantry.url, key: await gantry.newUser("stranger", { plan: "single" }) });
  poor = createClient({ url: gantry.url, key: await gantry.newUser("poor", { credit: -1 }) });
});

afterAll(async () => {
  await gantry.close();
  await cog.close();
});

/** A client that counts what it sends. */
function counting(options: { retries?: number; url?: string; key?: string } = {}) {
  const sent: { method: string; at: number }[] = [];
  const counted: typeof fetch = (input, init) => {
    sent.push({ method: init?.method ?? "GET", at: performance.now() });
    return fetch(input, init);
  };
  return { sent, client: createClient({ url: gantry.url, key: gantry.adminKey, ...options, fetch: counted }) };
}

const input = { prompt: "x" };

describe("an error has its type, status and request id", () => {
  test.each<[string, () => Promise<unknown>, Partial<GantryError>]>([
    [
      "no key",
      () => createClient({ url: gantry.url }).predict("admin/slow", input),
      { status: 401, type: "unauthorized" },
    ],
    ["another's private model", () => stranger.predict("admin/private", input), { status: 403, type: "forbidden" }],
    ["an empty wallet", () => poor.predict("admin/slow", input), { status: 403, type: "insufficient_funds" }],
    ["a model without capacity", () => client.predict("admin/inactive", input), { status: 403, type: "forbidden" }],
    ["no such model", () => client.predict("admin/none", input), { status: 404, type: "not_found" }],
    [
      "no such prediction",
      () => client.cancel("admin/slow", "pred_0000000000000000000000000"),
      { status: 404, type: "not_found" },
    ],
    ["a model that streams", () => client.predict("gantry/text", input), { status: 421, type: "misdirected_request" }],
    ["an upstream that is away", () => client.predict("admin/away", input), { status: 503, retryable: true }],
    ["wrong parameters", () => client.account.expenses({ page: 0 }), { status: 400, type: "invalid_parameters" }],
    ["no such agent", () => client.agents.get("agt_none"), { status: 404, type: "not_found" }],
    [
      "no key for what is asked about without a body",
      () => createClient({ url: gantry.url }).drives.files.head("drv_none", "/f"),
      { status: 401, type: "unauthorized" },
    ],
    ["no such file", () => client.drives.files.head("drv_none", "/f"), { status: 404, type: "not_found" }],
    ["no key for agents", () => createClient({ url: gantry.url }).agents.list(), { status: 401, type: "unauthorized" }],
  ])("%s", async (_, call, expected) => {
    const failure = await failureOf(call());
    expect(failure).toMatchObject({ retryable: false, ...expected });
    expect(failure.requestId).toEqual(expect.any(String));
    expect(failure.message).not.toBe("");
  });

  test("invalid input: every issue, on both APIs", async () => {
    const failure = await failureOf(client.predict("admin/slow", { count: 0, more: true }));
    expect(failure).toMatchObject({ status: 422, retryable: false });
    expect(failure.issues.map(({ type, loc }) => [type, ...loc]).sort()).toEqual([
      ["extra_forbidden", "body", "more"],
      ["greater_than_equal", "body", "count"],
      ["missing", "body", "prompt"],
    ]);
    expect(failure.issues.find(({ type }) => type === "greater_than_equal")?.ctx).toEqual({ ge: 1 });
    expect(failure.message).toContain("body.prompt: Field required");
    const wrong = { name: "", goal: "Do it.", tools: "none" as unknown as [] };
    const refused = await failureOf(client.agents.create(wrong));
    expect(refused).toMatchObject({ status: 400, type: "invalid_input", requestId: expect.any(String) });
    expect(refused.issues.map(({ loc }) => loc.at(-1))).toEqual(expect.arrayContaining(["name", "tools"]));
  });

  test("an unpublished agent, and a conflict", async () => {
    const { id } = await client.agents.create({ name: "Draft", goal: "Do it.", tools: [] });
    const failure = await failureOf(client.runs.create(id, { input: {} }));
    expect(failure).toMatchObject({ status: 400, type: "agent_not_published" });
    const run = { input: {}, wait: 0 };
    await client.agents.publish(id);
    await client.runs.create(id, run, { idempotencyKey: "same" });
    const reused = await failureOf(client.runs.create(id, { ...run, max_steps: 3 }, { idempotencyKey: "same" }));
    expect(reused).toMatchObject({ status: 422, type: "idempotency_key_reused" });
  });

  test("no server at all", async () => {
    const { url, close } = await startCuttableLine(gantry.url);
    await close();
    const unreachable = createClient({ url, retries: 0 });
    expect(await failureOf(unreachable.me())).toMatchObject({
      status: 0,
      type: "connection_error",
      retryable: true,
      message: `No complete response from ${url}: ECONNREFUSED`,
    });
    expect([await unreachable.isUp(), await unreachable.isReady()]).toEqual([false, false]);
    expect([await client.isUp(), await client.isReady()]).toEqual([true, true]);
  });

  test("no server address, reported before any request", async () => {
    const { port } = new URL(gantry.url);
    for (const url of ["nowhere", "", `localhost:${port}`, `127.0.0.1:${port}`, "ftp://service.test", "http://"]) {
      expect(() => createClient({ url }), url).toThrow(
        new TypeError(
          `Invalid url ${JSON.stringify(url)}: it must begin with http:// or https:// and have no user, ? or #`,
        ),
      );
    }
    for (const hidden of ["http://service.test/?a=b", "http://service.test/#a"]) {
      expect(() => createClient({ url: hidden })).toThrow('Invalid url "http://service.test/?…"');
    }
    for (const spelling of ["http:ann:wo/rd@", "ann:word@", "https://ann:wo/rd@", "http:\\\\ann:word@"]) {
      expect(() => createClient({ url: `${spelling}service.test` }), spelling).toThrow(/^Invalid url "…@service.test"/);
    }
    expect(() => createClient({ url: "http://ann:word@service.test" })).toThrow(/^Invalid url "…@service.test"/);
    for (const url of [undefined, null, 8080]) {
      expect(() => createClient({ url: url as unknown as string })).toThrow(new TypeError("url must be a string"));
    }
    const withoutTypes = createClient as (options?: unknown) => unknown;
    for (const options of [undefined, null, gantry.url]) {
      expect(() => withoutTypes(options)).toThrow(/^createClient needs an object/);
    }
    const spoken = createClient({ url: ` http://localhost:${port}// `, key: gantry.adminKey });
    expect((await spoken.me()).username).toBe("admin");
  });

  test("a missing model or link", async () => {
    const upload = client.files.upload as unknown as (file: Blob) => Promise<unknown>;
    await expect(upload(new Blob(["x"]))).rejects.toThrow(
      new TypeError("The first argument must be a model: owner/model"),
    );
    await expect(client.files.download("s3://gantry/uploads/x")).rejects.toThrow(
      new TypeError("Cannot download an s3:// address. Create a link with files.link(model, s3Path)."),
    );
  });

  test("a key or another value that no header can carry, reported without a request and without the value", async () => {
    for (const key of ["ключ", "two\nlines", "nul\0", "bell\u0007"]) {
      const { client: odd, sent } = counting({ key });
      for (const call of [
        () => odd.me(),
        () => odd.stream("admin/slow", input).next(),
        () => odd.runs.events("run_1").next(),
      ]) {
        const failure = await failureOf(call());
        expect(failure).toMatchObject({ status: 0, type: "invalid_input", retryable: false });
        expect(failure.message).toBe(
          "The header x-api-key cannot be sent: its value has characters that headers cannot contain",
        );
        expect([JSON.stringify(failure), failure.cause]).toEqual([expect.not.stringContaining(key), undefined]);
      }
      expect(sent).toEqual([]);
      expect([await odd.isUp(), await odd.isReady()]).toEqual([true, true]);
    }
    expect((await createClient({ url: gantry.url, key: ` ${gantry.adminKey}\n` }).me()).username).toBe("admin");
    const refused = await failureOf(client.predict("admin/slow", input, { idempotencyKey: "один" }));
    expect(refused).toMatchObject({ type: "invalid_input", message: expect.stringContaining("idempotency-key") });
  });
});

describe("retries", () => {
  test("a rate limit is retried after the requested time", async () => {
    const key = await gantry.newUser("busy", { plan: "single" });
    const { client: busy, sent } = counting({ key });
    const first = busy.predict("admin/slow", input);
    await waitFor("the upstream call", () => cog.open === 1);
    const { client: once } = counting({ key, retries: 0 });
    expect(await failureOf(once.predict("admin/slow", input))).toMatchObject({
      status: 429,
      type: "concurrent_requests_limit",
      retryable: true,
      retryAfter: 1,
    });
    const second = busy.predict("admin/slow", input);
    await waitFor("the refusal", () => sent.length === 2);
    await sleep(300);
    cog.finishOne();
    await first;
    await waitFor("the second upstream call", () => cog.open === 1);
    cog.finishOne();
    expect((await second).status).toBe(200);
    expect(sent.length).toBe(3);
    expect((sent[2]?.at ?? 0) - (sent[1]?.at ?? 0)).toBeGreaterThan(990);
  });

  test("accepted requests are not retried without an Idempotency-Key", async () => {
    const { client: plain, sent } = counting();
    const failure = await failureOf(plain.predict("admin/away", input));
    expect(failure).toMatchObject({ status: 503, type: "downstream_service_unavailable" });
    expect(failure.predictionId).toMatch(/^pred_/);
    expect(sent.length).toBe(1);
    await failureOf(plain.predict("admin/away", input, { idempotencyKey: "k" }));
    expect(sent.length).toBe(4);
    const { client: never, sent: few } = counting({ retries: 0 });
    await failureOf(never.predict("admin/away", input, { idempotencyKey: "k2" }));
    expect(few.length).toBe(1);
  });

  test("reads are retried over a briefly broken connection; writes are not", async () => {
    const line = await startCuttableLine(gantry.url);
    try {
      const { client: shaky, sent } = counting({ url: line.url });
      line.isDown = true;
      setTimeout(() => {
        line.isDown = false;
      }, 100);
      expect((await shaky.me()).username).toBe("admin");
      expect(sent.length).toBeGreaterThan(1);
      line.cut();
      line.isDown = true;
      sent.length = 0;
      expect(await failureOf(shaky.account.keys.create())).toMatchObject({ type: "connection_error" });
      expect(sent.length).toBe(1);
      expect(await failureOf(shaky.me())).toMatchObject({ type: "connection_error" });
      expect(sent.length).toBe(4);
      const leaving = new AbortController();
      const waiting = shaky.me({ signal: leaving.signal });
      setTimeout(() => leaving.abort(new Error("enough")), 50);
      await expect(waiting).rejects.toThrow("enough");
      expect(sent.length).toBe(5);
    } finally {
      await line.close();
    }
  });
});

test("the key is sent only to the server, not along redirects or to links", async () => {
  const seen: (string | undefined)[] = [];
  const other = createServer((request, response) => {
    seen.push(request.headers["x-api-key"] as string | undefined);
    if (request.url === "/file") return void response.end("bytes");
    response.writeHead(307, { location: `${gantry.url}${request.url}` }).end();
  });
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address() as AddressInfo;
  try {
    const moved = createClient({ url: `http://127.0.0.1:${port}`, key: gantry.adminKey });
    const failure = await failureOf(moved.me());
    expect([failure.status, failure.message]).toEqual([307, `HTTP 307, redirect to ${gantry.url}/api/v2/me`]);
    const file = await client.files.download(`http://127.0.0.1:${port}/file`);
    expect(await file.text()).toBe("bytes");
    expect(seen).toEqual([gantry.adminKey, undefined]);
  } finally {
    other.closeAllConnections();
    other.close();
  }
});
