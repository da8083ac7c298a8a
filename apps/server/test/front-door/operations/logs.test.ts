import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { waitFor } from "../../support/wait-for.ts";

/** Values that must not be logged, each distinct so that a failure names its source. */
const words = {
  prompt: "prompt-a-red-drone-over-tallinn",
  answer: "answer-it-is-a-quadcopter",
  upstreamKey: "sk-upstream-credential-31415926",
  backendHeader: "backend-header-credential-17320",
  backendQuery: "backend-query-credential-22360",
  webhookHeader: "webhook-header-credential-27182",
  webhookQuery: "webhook-query-credential-16180",
  webhookPassword: "webhook-password-14142",
  collectorKey: "collector-credential-57721",
  metricsKey: "metrics-credential-66260",
  password: "account-password-99792458",
  wrongKey: "gk_000000000000_wrong-key-guess-66743",
  idempotencyKey: "idempotency-key-of-a-user-86173",
  file: "file-contents-to-hide-13807",
  query: "query-parameter-words-60221",
  badJson: "json-words-83144",
  beginning: "patient7",
  signInToken: "sign-in-token-guess-29979245800000000000000",
  sessionGuess: "gk_000000000000_session-guess-10545",
};

let gantry: GantryNode;
let userKey: string;
let mood: "well" | "echo" | "cut" | "nonsense" = "well";
let hooks = 0;

/** A scripted upstream whose errors quote everything it received. */
const upstream = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) body += chunk;
  if (request.url?.startsWith("/hook")) {
    hooks++;
    return void response.writeHead(500).end(body);
  }
  const everything = JSON.stringify({ message: body, headers: request.headers, url: request.url });
  if (mood === "cut") return void response.destroy();
  if (mood === "echo") return void response.writeHead(400).end(JSON.stringify({ error: { message: everything } }));
  if (mood === "nonsense") return void response.end(`${words.beginning}<html>${everything}</html>`);
  if (!request.url?.includes("chat")) {
    return void response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ status: "succeeded", output: words.answer }));
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: words.answer } }] })}\n\n`);
  response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}\n\n`);
  response.end("data: [DONE]\n\n");
});

const text = { type: "string" };
const object = (properties: object, required: string[]) => ({ type: "object", required, properties });

beforeAll(async () => {
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  gantry = await startGantry({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1",
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=${words.collectorKey}`,
      GANTRY_METRICS_KEY: words.metricsKey,
    },
  });
  const secrets = { upstream: words.upstreamKey, header: words.backendHeader, query: words.backendQuery };
  for (const [name, value] of Object.entries(secrets)) {
    const put = await gantry.call("PUT", `/api/v2/secrets/${name}`, { json: { value } });
    expect(put.status, put.text).toBeLessThan(300);
  }
  const access = {
    secret: "upstream",
    headers: { "x-header": "Key {{secret:header}}" },
    query: { token: "{{secret:query}}" },
  };
  const manifest = {
    title: "T",
    description: "D",
    kind: "other",
    visibility: "public",
    capacity: 4,
    pricing: { per_request: 0.01 },
    input: object({ prompt: text }, ["prompt"]),
    output: object({ output: text }, ["output"]),
    backend: { type: "cog", url, ...access },
  };
  const models = {
    cog: manifest,
    chat: {
      ...manifest,
      kind: "text",
      output: object({ output: { ...text, isStream: true } }, ["output"]),
      backend: { type: "openai-chat", url: `${url}/v1`, model: "m", ...access },
    },
  };
  for (const [name, json] of Object.entries(models)) {
    const made = await gantry.call("PUT", `/api/v1/admin/${name}`, { json });
    expect(made.status, made.text).toBe(201);
  }
  const made = await gantry.call("POST", "/api/v2/admin/users", {
    json: { username: "mallory", plan: "unlimited", password: words.password },
  });
  expect(made.status, made.text).toBe(201);
  userKey = (await gantry.call("POST", "/api/v2/admin/users/mallory/keys", { json: {} })).body.key;
  await gantry.call("POST", "/api/v2/admin/users/mallory/credits", { json: { amount: 5, reason: "test" } });
});

afterAll(async () => {
  await gantry.close();
  upstream.closeAllConnections();
  upstream.close();
});

test("secrets, prompts and answers are never logged, in success or failure", async () => {
  const form = { prompt: words.prompt };
  const { port } = upstream.address() as AddressInfo;
  const webhook = JSON.stringify({
    url: `http://hook:${words.webhookPassword}@127.0.0.1:${port}/hook`,
    headers: { authorization: words.webhookHeader },
    query_params: { token: words.webhookQuery },
  });
  const plainHook = JSON.stringify({
    url: `http://127.0.0.1:${port}/hook`,
    headers: { authorization: words.webhookHeader },
    query_params: { token: words.webhookQuery },
  });
  const statuses: Record<string, number[]> = {};
  for (mood of ["well", "echo", "cut", "nonsense"] as const) {
    const of = (path: string, more: object = {}) => gantry.call("POST", path, { key: userKey, form, ...more });
    const queued = await of("/api/v1/admin/cog/predict/async", { form: { ...form, webhook: plainHook } });
    await of("/api/v1/admin/cog/predict/async", { form: { ...form, webhook } });
    const answers = [
      await of("/api/v1/admin/cog/predict"),
      await of("/api/v1/admin/cog/predict", { headers: { "idempotency-key": `${words.idempotencyKey}-${mood}` } }),
      await of("/api/v1/admin/chat/predict/stream"),
      await gantry.call(
        "GET",
        `/api/v1/admin/cog/predict/async/result?request_id=${queued.body.prediction_id}&wait=20`,
        { key: userKey },
      ),
    ];
    statuses[mood] = answers.map((answer) => answer.status);
  }
  // The errors must have occurred, or the test proves nothing.
  expect(statuses.well).toEqual([200, 200, 200, 200]);
  expect(statuses.echo?.[0]).toBe(502);
  expect(statuses.cut?.[0]).toBeGreaterThanOrEqual(502);
  expect(statuses.nonsense?.[0]).toBe(502);
  await waitFor("the failed deliveries", () => hooks >= 4);

  const upload = await gantry.call("POST", "/api/v1/admin/cog/upload_file", {
    key: userKey,
    form: { file: new Blob([words.file]) },
  });
  const link: string = upload.body.url;
  expect((await gantry.call("GET", link)).text).toBe(words.file);
  expect((await gantry.call("GET", `${link}0`)).status).toBe(403);
  await gantry.call("GET", `/api/v2/me?q=${words.query}`, { key: words.wrongKey });
  await gantry.call("GET", `/nowhere?q=${words.query}`, { key: userKey });
  await gantry.call("GET", "/metrics", { key: words.metricsKey });
  const session = "/console/api/session";
  for (const json of [
    { token: words.signInToken },
    { key: words.wrongKey },
    { key: userKey },
    { key: [words.wrongKey] },
  ]) {
    await gantry.call("POST", session, { key: "", json });
  }
  const cookie = `gantry_session=${words.sessionGuess}`;
  await gantry.call("GET", session, { key: "", headers: { cookie, "x-gantry-console": "1" } });
  await gantry.call("PUT", "/api/v2/secrets/broken", {
    headers: { "content-type": "application/json" },
    form: { value: words.badJson },
  });
  await gantry.call("POST", "/api/v1/admin/cog/predict", { key: userKey, form: { nonsense: words.prompt } });

  await waitFor("the line of the last request", () => gantry.logged().includes('"status":422'));
  const logged = gantry.logged();
  const signature = new URL(link).searchParams.get("X-Amz-Signature");
  expect(signature).toMatch(/^[0-9a-f]{64}$/);
  const found = Object.entries({ ...words, userKey, adminKey: gantry.adminKey, signature: signature as string })
    .filter(([, word]) => logged.includes(word))
    .map(([name, word]) => `${name}: ${logged.split("\n").find((line) => line.includes(word))}`);
  expect(found).toEqual([]);
});

test("every line is JSON with a time; request lines have a request id and a prediction id", async () => {
  mood = "well";
  const answer = await gantry.call("POST", "/api/v1/admin/cog/predict", {
    key: userKey,
    form: { prompt: "x" },
    headers: { "x-request-id": "my-own-request-id" },
  });
  await waitFor("its line", () => gantry.logged().includes("my-own-request-id"));
  const lines = gantry
    .logged()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.every((line) => !Number.isNaN(Date.parse(line.time)))).toBe(true);
  expect(lines.find((line) => line.request_id === "my-own-request-id")).toMatchObject({
    prediction_id: answer.body.prediction_id,
    method: "POST",
    route: "/api/v1/:owner/:model/predict",
    status: 200,
  });
  // Failed deliveries name their prediction too.
  expect(lines.find((line) => line.delivery_id !== undefined)?.prediction_id).toMatch(/^pred_/);
});

test("a backend failure is one line with its cause, on every route", async () => {
  mood = "cut";
  const form = { prompt: "x" };
  const linesOf = (id: string) =>
    gantry
      .logged()
      .split("\n")
      .filter((line) => line.includes('"level":50') && line.includes(id));
  const headers = (id: string) => ({ "x-request-id": id });
  await gantry.call("POST", "/api/v1/admin/cog/predict", { key: userKey, form, headers: headers("failed-sync") });
  const stream = { key: userKey, form, headers: headers("failed-stream") };
  expect((await gantry.call("POST", "/api/v1/admin/cog/predict/stream/", stream)).text).toContain('"status":50');
  const queued = await gantry.call("POST", "/api/v1/admin/cog/predict/async/", { key: userKey, form });
  const { prediction_id: id } = queued.body;
  await gantry.call("GET", `/api/v1/admin/cog/result/?prediction_id=${id}&wait=20`, { key: userKey });
  for (const name of ["failed-sync", "failed-stream", id]) {
    await waitFor(`the line of ${name}`, () => linesOf(name).length > 0);
    expect(linesOf(name), name).toHaveLength(1);
    expect(JSON.parse(linesOf(name)[0] ?? "")).toMatchObject({ err: { message: expect.any(String) } });
  }
});
