import { createHmac } from "node:crypto";
import { gzipSync } from "node:zlib";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { verifyLedger } from "../../../src/features/billing/index.ts";
import { type AgentRuns, startAgentRuns } from "../../support/agent-runs.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { sendHalf } from "../../support/half-sent.ts";

let t: AgentRuns;
let beside: GantryNode;

beforeAll(async () => {
  t = await startAgentRuns();
  beside = await startGantry({ beside: t.gantry });
});
afterAll(async () => {
  expect(await verifyLedger(t.gantry.database)).toEqual([]);
  await beside.close();
  await t.close();
});
beforeEach(() => {
  t.llm.script = () => ({ text: "done" });
});

const call: GantryNode["call"] = (...args) => t.gantry.call(...args);

async function makeTrigger(body: object = {}, { agentId, key }: { agentId?: string; key?: string } = {}) {
  const by = key === undefined ? {} : { key };
  const agent = agentId ?? (await t.makeAgent({}, by));
  const made = await call("POST", `/v1/agents/${agent}/triggers`, { json: body, ...by });
  expect(made.status, made.text).toBe(201);
  return made.body;
}

/** As a sender posts it: without a key. */
async function post(url: string, body: string | Uint8Array, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: "POST",
    body: body as string,
    headers: { "content-type": "application/json", ...headers },
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: JSON.parse(text), text };
}

const send = (url: string, body: unknown, headers?: Record<string, string>) => post(url, JSON.stringify(body), headers);
const run = async (id: string, key?: string) => (await call("GET", `/v1/runs/${id}?wait=20`, key ? { key } : {})).body;
const deliveries = async (id: string) => (await call("GET", `/v1/triggers/${id}/deliveries`)).body.deliveries;

describe("the address of a trigger", () => {
  test("starts a run with the body as input, and is shown only once", async () => {
    const trigger = await makeTrigger({ name: "Incoming" });
    expect(trigger.url).toMatch(new RegExp(`^${t.gantry.url}/hooks/${trigger.id}/[\\w-]{43}$`));
    const answer = await send(trigger.url, { a: 1, b: ["x"] });
    expect([answer.status, answer.body.duplicate]).toEqual([202, false]);
    const started = await run(answer.body.run_id);
    expect(started).toMatchObject({
      status: "done",
      input: { a: 1, b: ["x"] },
      source: { type: "trigger", id: trigger.id },
    });
    const read = (await call("GET", `/v1/triggers/${trigger.id}`)).body;
    const { url, ...created } = trigger;
    expect(read).toEqual({ ...created, last_delivery_at: expect.any(String), last_run_id: started.id });
    const secret = url.split("/").at(-1);
    const shown = [await call("GET", "/v1/triggers"), await call("GET", `/v1/agents/${trigger.agent_id}/triggers`)];
    for (const { text, body } of shown) {
      expect(body.triggers.map(({ id }: { id: string }) => id)).toContain(trigger.id);
      expect(text).not.toContain(secret);
    }
    const [row] = await t.gantry.database.sql`select t::text as text from triggers t where id = ${trigger.id}`;
    expect(row?.text).not.toContain(secret);
    expect(await deliveries(trigger.id)).toEqual([
      {
        id: expect.any(String),
        delivery_id: null,
        status: "accepted",
        run_id: started.id,
        created_at: expect.any(String),
      },
    ]);
  });

  test("a wrong id and a wrong secret are the same 404; rotation replaces the secret at once", async () => {
    const trigger = await makeTrigger();
    const [, id, secret] = /hooks\/(.*)\/(.*)$/.exec(trigger.url) ?? [];
    const others = [`trg_${"0".repeat(26)}/${secret}`, `nothing/${secret}`, `${id}/${"x".repeat(43)}`, `${id}/x`];
    const answers = await Promise.all(others.map((path) => send(`${t.gantry.url}/hooks/${path}`, {})));
    for (const { status, body } of answers)
      expect([status, body]).toEqual([
        404,
        { error: { type: "not_found", code: "not_found", message: "Trigger not found" } },
      ]);
    expect(await deliveries(trigger.id)).toEqual([]);
    const rotated = (await call("POST", `/v1/triggers/${trigger.id}/rotate`)).body;
    expect(rotated.url).not.toBe(trigger.url);
    expect((await send(trigger.url, {})).status).toBe(404);
    expect((await send(trigger.url.replace(t.gantry.url, beside.url), {})).status).toBe(404);
    expect((await send(rotated.url, {})).status).toBe(202);
    expect((await call("DELETE", `/v1/triggers/${trigger.id}`)).status).toBe(204);
    expect((await send(rotated.url, {})).status).toBe(404);
    // Nothing of an address is logged, also when the server fails.
    await t.gantry.database.sql`alter table triggers rename to triggers_away`;
    expect((await send(rotated.url, {})).status).toBe(500);
    await t.gantry.database.sql`alter table triggers_away rename to triggers`;
    for (const one of [trigger.url, rotated.url]) expect(t.gantry.logged()).not.toContain(one.split("/").at(-1));
    const metrics = (await call("GET", "/metrics")).text;
    expect(metrics).toContain("/hooks/:trigger_id/:secret");
    expect(metrics).not.toContain(trigger.id);
  });

  test.each([
    ["rotated", "POST", "/rotate", undefined],
    ["disabled", "PATCH", "", { enabled: false }],
    ["given another signing secret", "PATCH", "", { verification: { type: "github", secret: "s".repeat(32) } }],
  ])("starts no run for a request that was open when the trigger was %s", async (_what, method, path, json) => {
    const trigger = await makeTrigger();
    const open = await sendHalf("POST", trigger.url, { a: 1 });
    expect((await call(method, `/v1/triggers/${trigger.id}${path}`, json && { json })).status).toBe(200);
    expect((await open.finish()).status).toBe(404);
    expect((await call("GET", `/v1/runs?agent_id=${trigger.agent_id}`)).body.total).toBe(0);
    expect(await deliveries(trigger.id)).toEqual([]);
  });

  test("a disabled trigger answers 409, and its owner alone reads and changes it", async () => {
    const stranger = await t.gantry.newUser("trigger-stranger");
    const trigger = await makeTrigger();
    for (const [method, path] of [
      ["GET", ""],
      ["PATCH", ""],
      ["DELETE", ""],
      ["POST", "/rotate"],
      ["GET", "/deliveries"],
    ] as const) {
      const json = method === "PATCH" ? { json: { enabled: false } } : {};
      expect((await call(method, `/v1/triggers/${trigger.id}${path}`, { key: stranger, ...json })).status).toBe(404);
    }
    expect((await call("GET", "/v1/triggers", { key: stranger })).body.total).toBe(0);
    const off = await call("PATCH", `/v1/triggers/${trigger.id}`, { json: { enabled: false } });
    expect(off.body).toMatchObject({ status: "disabled", enabled: false });
    expect((await send(trigger.url, {})).status).toBe(409);
    await call("PATCH", `/v1/triggers/${trigger.id}`, { json: { enabled: true } });
    expect((await send(trigger.url, {})).status).toBe(202);
  });
});

describe("verification", () => {
  const secret = "a-secret-of-the-sender";
  const body = JSON.stringify({ id: "evt_1", text: "né 😀", n: 1.0 });
  const now = () => Math.floor(Date.now() / 1000);
  const hmac = (algorithm: string, text: string, key: string | Buffer = secret) =>
    createHmac(algorithm, key).update(text);

  test("Standard Webhooks, as its library signs; several signatures; old timestamps", async () => {
    const signing = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const trigger = await makeTrigger({ verification: { type: "standard_webhooks", secret: signing } });
    const signed = (id: string, at: number, text = body) => ({
      "webhook-id": id,
      "webhook-timestamp": String(at),
      "webhook-signature": new Webhook(signing).sign(id, new Date(at * 1000), text),
    });
    expect((await post(trigger.url, body, signed("msg_1", now()))).status).toBe(202);
    const rotating = signed("msg_2", now());
    rotating["webhook-signature"] = `v1a,xyz v1,${"A".repeat(43)}= ${rotating["webhook-signature"]}`;
    expect((await post(trigger.url, body, rotating)).status).toBe(202);
    for (const headers of [
      signed("msg_3", now() - 301),
      signed("msg_3", now() + 310),
      { ...signed("msg_3", now()), "webhook-id": "msg_4" },
      signed("msg_3", now(), `${body} `),
      { ...signed("msg_3", now()), "webhook-signature": "v1," },
      {},
    ])
      expect((await post(trigger.url, body, headers)).status).toBe(401);
    // The bytes count, not their meaning.
    expect((await post(trigger.url, ` ${body}`, signed("msg_5", now()))).status).toBe(401);
    const reasons = (await deliveries(trigger.id)).map(({ reason }: { reason?: string }) => reason);
    expect(reasons).toContain("The timestamp of the signature is more than 5 minutes from now");
    expect((await call("GET", `/v1/triggers/${trigger.id}`)).body.verification).toEqual({ type: "standard_webhooks" });
  });

  test("GitHub", async () => {
    const trigger = await makeTrigger({ verification: { type: "github", secret } });
    const signature = `sha256=${hmac("sha256", body).digest("hex")}`;
    const good = await post(trigger.url, body, { "x-hub-signature-256": signature, "x-github-delivery": "d-1" });
    expect(good.status).toBe(202);
    expect((await deliveries(trigger.id))[0].delivery_id).toBe("d-1");
    expect((await post(trigger.url, body, { "x-hub-signature-256": signature.slice(7) })).status).toBe(401);
    expect((await post(trigger.url, body, { "x-hub-signature-256": "sha256=" })).status).toBe(401);
  });

  test("Stripe", async () => {
    const trigger = await makeTrigger({ verification: { type: "stripe", secret } });
    const at = now();
    const signature = hmac("sha256", `${at}.${body}`).digest("hex");
    const header = `t=${at},v1=${"0".repeat(64)},v1=${signature},v0=abc`;
    const first = await post(trigger.url, body, { "stripe-signature": header });
    expect(first.status, first.text).toBe(202);
    expect((await deliveries(trigger.id))[0].delivery_id).toBe("evt_1");
    const late = at - 400;
    const old = hmac("sha256", `${late}.${body}`).digest("hex");
    expect((await post(trigger.url, body, { "stripe-signature": `t=${late},v1=${old}` })).status).toBe(401);
    expect((await post(trigger.url, body, { "stripe-signature": `v1=${signature}` })).status).toBe(401);
    expect((await post(trigger.url, body, { "stripe-signature": `t=${at},v0=${signature}` })).status).toBe(401);
  });

  test("plain HMAC; its secret is sealed and not returned, and can be replaced", async () => {
    const verification = {
      type: "hmac",
      secret,
      header: "X-Sign",
      algorithm: "sha512",
      encoding: "base64",
      prefix: "v=",
    };
    const trigger = await makeTrigger({ verification });
    const { secret: _hidden, ...shown } = verification;
    expect(trigger.verification).toEqual(shown);
    const sign = (key?: string) => ({ "x-sign": `v=${hmac("sha512", body, key).digest("base64")}` });
    expect((await post(trigger.url, body, sign())).status).toBe(202);
    expect((await post(trigger.url, body, sign("another-secret"))).status).toBe(401);
    const [row] = await t.gantry.database.sql`
      select t::text as text, verification_secret as sealed from triggers t where id = ${trigger.id}`;
    expect(row?.text + row?.sealed.toString("latin1")).not.toContain(secret);
    const change = { json: { verification: { ...verification, secret: "another-secret" } } };
    expect((await call("PATCH", `/v1/triggers/${trigger.id}`, change)).status).toBe(200);
    expect((await post(trigger.url, body, sign())).status).toBe(401);
    expect((await post(trigger.url, body, sign("another-secret"))).status).toBe(202);
  });
});

describe("repeats", () => {
  test("of a delivery id, also at once on two nodes, give one run", async () => {
    const trigger = await makeTrigger({ delivery_id: { path: "event.id" } });
    const urls = [trigger.url, trigger.url.replace(t.gantry.url, beside.url)];
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => send(urls[n % 2] ?? "", { event: { id: 7 }, n })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(202));
    expect(new Set(answers.map(({ body }) => body.run_id)).size).toBe(1);
    expect(answers.filter(({ body }) => !body.duplicate)).toHaveLength(1);
    const runs = (await call("GET", `/v1/runs?agent_id=${trigger.agent_id}`)).body;
    expect(runs.total).toBe(1);
    const again = await send(trigger.url, { event: { id: "8" } });
    expect(again.body.duplicate).toBe(false);
    const missing = await send(trigger.url, { event: {} });
    expect(missing.body.error).toMatchObject({ type: "invalid_input", details: [{ loc: ["body", "event", "id"] }] });
  });

  test("are recognised by a header, or by Idempotency-Key; a refused delivery can be sent again", async () => {
    const schema = { type: "object", required: ["ok"], properties: { ok: { const: true } } };
    const agentId = await t.makeAgent({ input_schema: schema });
    const trigger = await makeTrigger({}, { agentId });
    const headers = { "idempotency-key": "k-1" };
    const refused = await send(trigger.url, { ok: false }, headers);
    expect(refused.status).toBe(400);
    expect(refused.body.error.details[0].loc).toEqual(["body", "input", "ok"]);
    const first = await send(trigger.url, { ok: true }, headers);
    expect([first.status, first.body.duplicate]).toEqual([202, false]);
    expect((await send(trigger.url, { ok: true }, headers)).body).toEqual({
      run_id: first.body.run_id,
      duplicate: true,
    });
    const listed = await deliveries(trigger.id);
    expect(listed.map(({ status }: { status: string }) => status)).toEqual(["duplicate", "accepted", "refused"]);
    expect(listed[2].reason).toMatch(/^input\.ok: /);
    const byHeader = await makeTrigger({ delivery_id: { header: "X-Delivery" } }, { agentId });
    await send(byHeader.url, { ok: true }, { "x-delivery": "1" });
    expect((await send(byHeader.url, { ok: true }, { "x-delivery": "1" })).body.duplicate).toBe(true);
    expect((await send(byHeader.url, { ok: true })).status).toBe(400);
  });
});

describe("input", () => {
  test("is made of templates over body, headers and query; a single placeholder keeps its type", async () => {
    const trigger = await makeTrigger({
      input: {
        title: "Issue {{body.issue.number}}: {{body.issue.title}}",
        labels: "{{body.issue.labels}}",
        number: "{{body.issue.number}}",
        missing: "{{body.nothing}}",
        nested: { event: "{{headers.x-github-event}}", from: ["{{query.source}}", "{{body.nothing}}"] },
        fixed: 3,
        proto: "{{body.constructor.name}}{{headers.authorization}}{{headers.x-gitlab-token}}",
      },
    });
    const body = { issue: { number: 12, title: "It <breaks>", labels: [{ name: "bug" }] } };
    const { body: accepted } = await send(`${trigger.url}?source=repo`, body, {
      "x-github-event": "issues",
      authorization: "Bearer hidden",
      "x-gitlab-token": "hidden",
    });
    expect((await run(accepted.run_id)).input).toEqual({
      title: "Issue 12: It <breaks>",
      labels: [{ name: "bug" }],
      number: 12,
      nested: { event: "issues", from: ["repo", null] },
      fixed: 3,
      proto: "",
    });
  });

  test("can come from a form or text", async () => {
    const form = await makeTrigger();
    const sent = await post(form.url, "a=1&b=x+y&b=z", { "content-type": "application/x-www-form-urlencoded" });
    expect((await run(sent.body.run_id)).input).toEqual({ a: "1", b: ["x y", "z"] });
    const text = await makeTrigger({ input: { text: "{{body}}" } });
    const told = await post(text.url, "hello", { "content-type": "text/plain; charset=utf-8" });
    expect((await run(told.body.run_id)).input).toEqual({ text: "hello" });
    expect((await send(form.url, ["not", "an object"])).status).toBe(400);
    const ping = await fetch(form.url, { method: "POST" });
    expect(ping.status).toBe(202);
  });

  test("that is hostile is refused with 400", async () => {
    const trigger = await makeTrigger();
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    const refused: [string | Uint8Array, Record<string, string>?][] = [
      ['{"__proto__": {"a": 1}}'],
      ['{"a": {"constructor": {"prototype": {}}}}'],
      [deep],
      [`{"a": ${"[".repeat(60)}${"]".repeat(60)}}`],
      ['{"a": "\\u0000"}'],
      ["{"],
      [new Uint8Array([0x22, 0xff, 0x22])],
      [gzipSync(JSON.stringify({ a: "x".repeat(100_000) })), { "content-encoding": "gzip" }],
      ["<a/>", { "content-type": "application/xml" }],
      ["a=%00", { "content-type": "application/x-www-form-urlencoded" }],
      [new Uint8Array([0xff]), { "content-type": "text/plain" }],
      [`{"a": "${"x".repeat(1_048_576)}"}`],
    ];
    for (const [body, headers] of refused) {
      const answer = await post(trigger.url, body, headers);
      expect(answer.status, answer.text).toBe(400);
      expect(answer.body.error.type).toBe("invalid_input");
    }
    expect((await call("GET", `/v1/runs?agent_id=${trigger.agent_id}`)).body.total).toBe(0);
    const large = await makeTrigger({ input: Object.fromEntries(["a", "b", "c"].map((name) => [name, "{{body}}"])) });
    expect((await send(large.url, { text: "x".repeat(500_000) })).status).toBe(400);
  });

  test("templates are checked when they are saved", async () => {
    const agentId = await t.makeAgent();
    const refused = await call("POST", `/v1/agents/${agentId}/triggers`, {
      json: { input: { a: ["{{#if}}"], b: "{{fetch 1}}" }, thread_id: "{{> x}}" },
    });
    expect(refused.status).toBe(400);
    const at = refused.body.error.details.map(({ loc }: { loc: unknown[] }) => loc.join("."));
    expect(at).toEqual(["body.input.a.0", "body.input.b", "body.thread_id"]);
    for (const json of [
      { verification: { type: "hmac", secret: "short" } },
      { delivery_id: {} },
      { verification: { type: "standard_webhooks", secret: "not base64!" } },
      { unknown: 1 },
    ])
      expect((await call("POST", `/v1/agents/${agentId}/triggers`, { json })).status).toBe(400);
  });
});
