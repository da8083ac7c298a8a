import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from "vitest";
import { createClient, type GantryClient, type GantryError } from "../../../../../packages/sdk/src/index.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { waitFor } from "../../support/wait-for.ts";

let gantry: GantryNode;
let client: GantryClient;
let stranger: GantryClient;

beforeAll(async () => {
  gantry = await startGantry();
  client = createClient({ url: gantry.url, key: gantry.adminKey });
  stranger = createClient({ url: gantry.url, key: await gantry.newUser("stranger") });
});
afterAll(() => gantry.close());

const as = (key = "") => createClient({ url: gantry.url, key });
const failureOf = (promise: Promise<unknown>): Promise<GantryError> =>
  promise.then(
    () => Promise.reject(new Error("it did not fail")),
    (error) => error,
  );
const fieldsOf = ({ issues }: GantryError) => issues.map(({ loc }) => loc.join(".")).sort();

describe("an admin", () => {
  test("exports the data of a user, who exports the same", async () => {
    const key = await gantry.newUser("exported");
    for (const start of [() => as(key).account.export({ files: false }), () => client.admin.users.export("exported")]) {
      const { headers, body } = await start();
      expect(headers.get("content-disposition")).toMatch(/^attachment; filename="gantry-exported-.*\.tar\.gz"$/);
      const plain = body?.pipeThrough(new DecompressionStream("gzip"));
      expect(await new Response(plain).text()).toContain('"complete": true');
    }
    expect(await failureOf(as(key).admin.users.export("exported"))).toMatchObject({ status: 403 });
  });

  test("creates and changes users, and gives them keys and credit", async () => {
    const made = await client.admin.users.create({ username: "ann", password: "long enough", plan: "pro" });
    expect(made).toEqual({
      id: expect.stringMatching(/^usr_/),
      username: "ann",
      kind: "person",
      role: "user",
      plan: "pro",
      disabled: false,
      deletion_requested_at: null,
      balance: 0,
      balance_low: false,
      reserved: 0,
      created_at: expect.any(String),
    });
    expect(await failureOf(client.admin.users.create({ username: "ann" }))).toMatchObject({
      status: 409,
      type: "conflict",
    });
    const wrong = { username: "No", password: "short", plan: "none" };
    expect(fieldsOf(await failureOf(client.admin.users.create(wrong)))).toEqual(["body.password", "body.username"]);
    const { key, name } = await client.admin.users.createKey("ann", { name: "first" });
    expect([name, await as(key).me()]).toMatchObject(["first", { username: "ann", balance: 0 }]);
    const link = await client.admin.users.makeSignInLink("ann");
    expect(link).toEqual({ url: expect.stringMatching(/\/console\/sign-in#/), expires_at: expect.any(String) });
    expect(await failureOf(client.admin.users.makeSignInLink("unknown"))).toMatchObject({ status: 404 });
    expect(await failureOf(stranger.admin.users.makeSignInLink("ann"))).toMatchObject({ status: 403 });
    expect((await as(key).account.makeSignInLink()).url).toMatch(/\/console\/sign-in#/);
    const credit = { amount: 5.5, reason: "welcome" };
    const paid = await client.admin.users.credit("ann", credit, { idempotencyKey: "once" });
    const entry = { id: expect.any(Number), amount: 5.5, reason: "welcome", created_at: expect.any(String) };
    expect(paid).toEqual({ balance: 5.5, currency: "USD", entry });
    expectTypeOf(paid.entry.id).toEqualTypeOf<number>();
    expect(await client.admin.users.credit("ann", credit, { idempotencyKey: "once" })).toEqual(paid);
    expect((await client.admin.users.credit("ann", { amount: -1, reason: "a fee" })).balance).toBe(4.5);
    expect((await client.admin.users.credit("ann", { amount: -1, reason: "a fee" })).balance).toBe(3.5);
    const reused = client.admin.users.credit("ann", { ...credit, amount: 6 }, { idempotencyKey: "once" });
    expect(await failureOf(reused)).toMatchObject({ status: 422, type: "idempotency_key_reused" });
    expect(fieldsOf(await failureOf(client.admin.users.credit("ann", { amount: 0, reason: "" })))).toEqual([
      "body.amount",
      "body.reason",
    ]);
    expect(await client.admin.users.update("ann", { plan: "free", disabled: true })).toMatchObject({
      plan: "free",
      disabled: true,
    });
    expect(await failureOf(as(key).me())).toMatchObject({ status: 401 });
    for (const call of [
      () => client.admin.users.update("unknown", { plan: "free" }),
      () => client.admin.users.createKey("unknown"),
      () => client.admin.users.credit("unknown", credit),
    ]) {
      expect(await failureOf(call())).toMatchObject({ status: 404, type: "not_found" });
    }
  });

  test("credits once when the answer is lost", async () => {
    await client.admin.users.create({ username: "lucky" });
    let calls = 0;
    const forgetful: typeof fetch = async (...args) => {
      const response = await fetch(...args);
      if (++calls === 1) throw new TypeError("fetch failed");
      return response;
    };
    const other = createClient({ url: gantry.url, key: gantry.adminKey, fetch: forgetful });
    expect((await other.admin.users.credit("lucky", { amount: 2, reason: "once" })).balance).toBe(2);
    expect(calls).toBe(2);
  });

  test("lists users, in pages and by iteration", async () => {
    const page = await client.admin.users.list({ page_size: 1 });
    expect(page).toMatchObject({ page: 1, page_size: 1, results: [{ id: expect.any(String) }] });
    const all = await Array.fromAsync(client.admin.users.each(), ({ username }) => username);
    expect(all.length).toBe(page.total_count);
    expect(all).toEqual(expect.arrayContaining(["admin", "stranger"]));
    expect(fieldsOf(await failureOf(client.admin.users.list({ page_size: 101 })))).toEqual(["query.page_size"]);
  });

  test("creates and changes plans, and deletes unused ones", async () => {
    const limits = { requests_per_minute: 5, parallel: null, storage_bytes: 1024 };
    expect(await client.admin.plans.put("tiny", limits)).toEqual({ name: "tiny", ...limits, users: 0 });
    expect(await client.admin.plans.put("tiny", { ...limits, parallel: 1 })).toMatchObject({ parallel: 1 });
    expect((await client.admin.plans.list({ page_size: 1 })).total_count).toBe(4);
    const names = await Array.fromAsync(client.admin.plans.each(), ({ name }) => name);
    expect(names).toEqual(["free", "pro", "tiny", "unlimited"]);
    await client.admin.users.create({ username: "small", plan: "tiny" });
    expect(await failureOf(client.admin.plans.delete("tiny"))).toMatchObject({ status: 409, type: "conflict" });
    await client.admin.users.update("small", { plan: "free" });
    expect(await client.admin.plans.delete("tiny")).toBeUndefined();
    expect(await failureOf(client.admin.plans.delete("tiny"))).toMatchObject({ status: 404 });
    const wrong = await failureOf(client.admin.plans.put("odd", { requests_per_minute: 0, parallel: 1 }));
    expect(fieldsOf(wrong)).toEqual(["body.requests_per_minute"]);
  });

  test("reads the overview and verifies the ledger", async () => {
    await stranger.predict("gantry/image", { prompt: "x", size: "1280x720" });
    const before = await client.admin.overview();
    await client.teams.create({ name: "lab" });
    const overview = await client.admin.overview();
    expect(overview.users).toEqual({ ...before.users, teams: before.users.teams + 1 });
    expect(overview).toMatchObject({
      predictions: { running: 0, waiting: 0 },
      nodes: 1,
      today: { requests: 1, paid_requests: 1, spent: 0.03 },
      last_7_days: { spent: 0.03 },
      top_models: [{ model_name: "gantry/image", requests: 1, spent: 0.03 }],
      books: { reserved: 0, platform: 0.03, sum: 0 },
      currency: "USD",
    });
    expect(overview.users.total).toBeGreaterThanOrEqual(2);
    expect(await client.admin.checkBooks()).toMatchObject({ sum: 0, currency: "USD", discrepancies: [] });
    expect(await client.checkBooks()).toEqual(await client.admin.checkBooks());
  });

  test("is required for all of that", async () => {
    const { users, plans, overview, checkBooks } = stranger.admin;
    for (const call of [
      () => users.list(),
      () => users.each().next(),
      () => users.create({ username: "mine" }),
      () => users.update("admin", { role: "user" }),
      () => users.createKey("admin"),
      () => users.credit("stranger", { amount: 1, reason: "me" }),
      () => plans.list(),
      () => plans.put("mine", { requests_per_minute: null, parallel: null }),
      () => plans.delete("free"),
      overview,
      checkBooks,
    ]) {
      expect(await failureOf(call())).toMatchObject({ status: 403, type: "forbidden", retryable: false });
    }
  });
});

test("secrets are stored, listed by name and deleted per user", async () => {
  const first = await client.secrets.put("upstream", "sk-first-value");
  expect(first).toEqual({ name: "upstream", created_at: expect.any(String), updated_at: expect.any(String) });
  expect((await client.secrets.put("upstream", "sk-second-value")).created_at).toBe(first.created_at);
  await client.secrets.put("another", "sk-third-value");
  expect(await client.secrets.list({ page_size: 1 })).toMatchObject({
    results: [{ name: "another" }],
    total_count: 2,
    total_pages: 2,
  });
  const all = await Array.fromAsync(client.secrets.each());
  expect(all.map(({ name }) => name)).toEqual(["another", "upstream"]);
  expect(JSON.stringify(all)).not.toContain("sk-");
  expect((await stranger.secrets.list()).results).toEqual([]);
  expect(await failureOf(stranger.secrets.delete("upstream"))).toMatchObject({ status: 404, type: "not_found" });
  expect(fieldsOf(await failureOf(client.secrets.put("upstream", "two\nlines")))).toEqual(["body.value"]);
  expect(fieldsOf(await failureOf(client.secrets.put("no spaces", "sk-value")))).toEqual(["path.name"]);
  expect(await client.secrets.delete("upstream")).toBeUndefined();
  expect(await failureOf(client.secrets.delete("upstream"))).toMatchObject({ status: 404 });
});

test("aliases are put, listed by name and deleted, per user and for all users", async () => {
  const first = await client.aliases.put("fast", "gantry/text");
  expect(first).toMatchObject({ name: "fast", model: "gantry/text", created_at: expect.any(String) });
  expect(await client.aliases.put("fast", "gantry/rules")).toMatchObject({ model: "gantry/rules" });
  await client.aliases.put("also", "gantry/text");
  expect(await client.aliases.list({ page_size: 1 })).toMatchObject({ results: [{ name: "also" }], total_count: 2 });
  const all = await Array.fromAsync(client.aliases.each());
  expect(all.map(({ name, model }) => [name, model])).toEqual([
    ["also", "gantry/text"],
    ["fast", "gantry/rules"],
  ]);
  expect((await stranger.aliases.list()).results).toEqual([]);
  expect(fieldsOf(await failureOf(client.aliases.put("no spaces", "gantry/none")))).toEqual([
    "body.model",
    "path.name",
  ]);
  for (const { name } of all) expect(await client.aliases.delete(name)).toBeUndefined();
  expect(await failureOf(client.aliases.delete("fast"))).toMatchObject({ status: 404, type: "not_found" });

  expect(await client.admin.aliases.put("shared", "gantry/text")).toMatchObject({ name: "shared" });
  expect(await Array.fromAsync(client.admin.aliases.each())).toHaveLength(1);
  expect(await failureOf(stranger.admin.aliases.list())).toMatchObject({ status: 403, type: "forbidden" });
  await client.admin.aliases.delete("shared");
  expect((await client.admin.aliases.list()).total_count).toBe(0);
});

test("webhooks are listed, resent, and signed with rotated secrets", async () => {
  const ids: unknown[] = [];
  let status = 410;
  const receiver = createServer((request, response) => {
    request.resume();
    ids.push(request.headers["webhook-id"]);
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const webhook = { url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook` };
  try {
    const input = { prompt: "x", size: "1280x720" };
    const predictions = [];
    for (let n = 0; n < 2; n++) predictions.unshift(await client.submit("gantry/image", input, { webhook }));
    const gone = () => client.webhooks.deliveries({ status: "gone" });
    await waitFor("both to be refused for ever", async () => (await gone()).total_count === 2);
    const [delivery, ...more] = (await client.webhooks.deliveries({ prediction_id: predictions[0] ?? "" })).results;
    expect(more).toEqual([]);
    expect(delivery).toMatchObject({ url: webhook.url, status: "gone", attempts: 1, prediction_id: predictions[0] });
    expect(await client.webhooks.deliveries({ page_size: 1 })).toMatchObject({ total_count: 2, total_pages: 2 });
    const all = await Array.fromAsync(client.webhooks.eachDelivery({ status: "gone" }));
    expect(all.map(({ id }) => id).sort()).toEqual([...ids].sort());
    expect(await Array.fromAsync(stranger.webhooks.eachDelivery())).toEqual([]);
    const id = delivery?.id ?? "";
    expect(await failureOf(stranger.webhooks.resend(id))).toMatchObject({ status: 404, type: "not_found" });
    status = 200;
    expect(await client.webhooks.resend(id)).toMatchObject({ id, status: "pending" });
    await waitFor("it to be taken", async () =>
      (await client.webhooks.deliveries({ status: "delivered" })).results.some((one) => one.id === id),
    );
    expect(ids.filter((one) => one === id).length).toBe(2);
    const [secret = "", ...older] = await client.webhooks.secrets();
    expect([secret.slice(0, 6), older]).toEqual(["whsec_", []]);
    const rotated = await client.webhooks.rotateSecret();
    expect(rotated).toEqual([expect.stringMatching(/^whsec_/), secret]);
    expect(await client.webhooks.secrets()).toEqual(rotated);
    expect(await stranger.webhooks.secrets()).not.toContain(secret);
    const wrong = client.webhooks.deliveries({ status: "lost" as "gone", page: 0 });
    expect((await failureOf(wrong)).status).toBe(422);
  } finally {
    receiver.closeAllConnections();
    receiver.close();
  }
});

test("models are created, replaced, changed, iterated and retired by their owner", async () => {
  const text = { type: "string" };
  const manifest = {
    title: "Echo",
    kind: "other",
    backend: { type: "cog", url: "http://127.0.0.1:1" },
    input: { type: "object", properties: { prompt: text } },
    output: { type: "object", properties: { output: text } },
  } as const;
  const made = await stranger.models.put("stranger/echo", manifest);
  expect(made).toMatchObject({ endpoint_id: "stranger/echo", version: 1, visibility: "private", capacity: 1 });
  expect(await stranger.models.put("stranger/echo", { ...manifest, title: "Echo 2" })).toMatchObject({ version: 2 });
  const pricing = { per_request: 0.5 };
  const changed = await stranger.models.update("stranger/echo", { pricing, description: null });
  expect(changed).toMatchObject({ title: "Echo 2", pricing, description: "", version: 3 });
  expect(await stranger.models.card("stranger/echo")).toEqual(changed);
  const cards = await Array.fromAsync(stranger.models.each({ kind: "other" }));
  expect(cards).toEqual([changed]);
  const wrong = await failureOf(stranger.models.put("stranger/wrong", { ...manifest, title: "", capacity: -1 }));
  expect([wrong.status, fieldsOf(wrong)]).toEqual([422, ["body.capacity", "body.title"]]);
  const other = createClient({ url: gantry.url, key: await gantry.newUser("other") });
  expect(await failureOf(other.models.update("stranger/echo", { capacity: 0 }))).toMatchObject({ status: 403 });
  expect(await failureOf(other.models.delete("stranger/echo"))).toMatchObject({ status: 403, type: "forbidden" });
  expect(await stranger.models.delete("stranger/echo")).toBeUndefined();
  expect(await failureOf(stranger.models.card("stranger/echo"))).toMatchObject({ status: 404 });
});

test("usage is available as CSV, and keys by iteration", async () => {
  const user = createClient({ url: gantry.url, key: await gantry.newUser("accountant") });
  const ids: string[] = [];
  for (let n = 0; n < 2; n++) {
    ids.unshift((await user.predict("gantry/image", { prompt: `${n}`, size: "1280x720" })).prediction_id);
  }
  const table = await user.account.usageCsv({ from_date: new Date(Date.now() - 3_600_000) });
  expect(table.headers.get("content-type")).toContain("text/csv");
  const [header = "", ...lines] = (await table.text()).trim().split("\r\n");
  expect(header.split(",")[0]).toBe("request_id");
  expect(lines.map((line) => line.split(",")[0])).toEqual(ids);
  const none = await user.account.usageCsv({ to_date: new Date(Date.now() - 3_600_000) });
  expect((await none.text()).trim()).toBe(header);
  expect(fieldsOf(await failureOf(user.account.usageCsv({ from_date: "yesterday" })))).toEqual(["query.from_date"]);
  const made = [await user.account.keys.create({ name: "a" }), await user.account.keys.create({ name: "b" })];
  const keys = await Array.fromAsync(user.account.keys.each(), ({ id }) => id);
  expect(keys.slice(0, 2)).toEqual(made.map(({ id }) => id).reverse());
});
