import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text as readText } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { waitFor } from "../../support/wait-for.ts";

/** Misbehaving backends, and models that change during a call. */
let gantry: GantryNode;
let answer: (response: ServerResponse, body: string) => void = () => {};
let calls = 0;
const backend = createServer(async (request, response) => {
  const body = await readText(request);
  calls++;
  answer(response, body);
});

const text = { type: "string" };
const input = { type: "object", required: ["prompt"], properties: { prompt: text } };
const longInput = { ...input, properties: { prompt: text, max_tokens: { type: "integer" } } };
const putModel = (name: string, more: object) =>
  gantry.call("PUT", `/api/v1/admin/${name}`, {
    json: {
      title: name,
      description: "Misbehaves.",
      kind: "other",
      visibility: "public",
      capacity: 30,
      input,
      ...more,
    },
  });

beforeAll(async () => {
  backend.listen(0, "127.0.0.1");
  await once(backend, "listening");
  const url = `http://127.0.0.1:${(backend.address() as AddressInfo).port}`;
  gantry = await startGantry();
  const object = (properties: object) => ({ type: "object", required: Object.keys(properties), properties });
  const pricing = { per_request: 0.01 };
  const cog = { backend: { type: "cog", url }, pricing, timeout_seconds: 30 };
  for (const [name, more] of Object.entries({
    lists: { ...cog, output: object({ output: { type: "array", items: {} } }) },
    plain: { ...cog, output: object({ output: text }) },
    changing: { ...cog, output: object({ output: text }) },
    chat: {
      kind: "text",
      model_size_in_billions: 7,
      input: longInput,
      output: object({ output: { ...text, isStream: true } }),
      pricing: { per_million_output_tokens: 10 },
      backend: { type: "openai-chat", url: `${url}/v1`, model: "m" },
    },
    timed: {
      kind: "text",
      model_size_in_billions: 7,
      input: longInput,
      output: object({ output: { ...text, isStream: true } }),
      pricing: { per_second: 1 },
      backend: { type: "openai-chat", url: `${url}/v1`, model: "m" },
    },
  })) {
    const put = await putModel(name, more);
    expect(put.status, put.text).toBe(201);
  }
});

afterAll(async () => {
  expect(await gantry.database.sql`select id from live_predictions`).toEqual([]);
  await gantry.close();
  backend.closeAllConnections();
  backend.close();
});

const json = (response: ServerResponse, body: string) =>
  void response.writeHead(200, { "content-type": "application/json" }).end(body);

describe("a deeply nested answer", () => {
  for (const depth of [300, 6_000, 100_000]) {
    test(`of ${depth} levels is an upstream error on every route`, async () => {
      answer = (response) => json(response, `{"status":"succeeded","output":${"[".repeat(depth)}${"]".repeat(depth)}}`);
      calls = 0;
      const sync = await gantry.call("POST", "/api/v1/admin/lists/predict", { form: { prompt: "x" } });
      expect([sync.status, sync.headers.get("x-service-retryable")]).toEqual([502, "false"]);
      const queued = await gantry.call("POST", "/api/v1/admin/lists/predict/async", { form: { prompt: "x" } });
      const path = `/api/v1/admin/lists/predict/async/result?request_id=${queued.body.prediction_id}&wait=15`;
      const { body } = await gantry.call("GET", path);
      expect(body.inference_responses, JSON.stringify(body)).toMatchObject([{ infer_details: { status: 502 } }]);
      expect(calls).toBe(2);
    });
  }

  test("of 200 levels is accepted", async () => {
    answer = (response) => json(response, `{"status":"succeeded","output":${"[".repeat(200)}${"]".repeat(200)}}`);
    const { status } = await gantry.call("POST", "/api/v1/admin/lists/predict", { form: { prompt: "x" } });
    expect(status).toBe(200);
  });
});

test.each([
  (id: string) => `s3://elsewhere/outputs/${id}/a.png`,
  (id: string) => `s3://gantry/outputs/${id}/../../uploads/a.png`,
  (id: string) => `s3://gantry/uploads/file_1/outputs/${id}/a.png`,
])("an address that an upstream made up is text: %s", async (output) => {
  answer = (response, body) =>
    json(response, JSON.stringify({ status: "succeeded", output: output(JSON.parse(body).id) }));
  const form = { prompt: "x" };
  const sync = await gantry.call("POST", "/api/v1/admin/plain/predict", { form });
  expect([sync.status, sync.body.files], sync.text).toEqual([200, {}]);
  const webhook = JSON.stringify({ url: "http://127.0.0.1:9/", headers: {}, query_params: {} });
  const queued = await gantry.call("POST", "/api/v1/admin/plain/predict/async", { form: { ...form, webhook } });
  const id = queued.body.prediction_id;
  const path = `/api/v1/admin/plain/predict/async/result?request_id=${id}&wait=15`;
  const { body } = await gantry.call("GET", path);
  expect(body.inference_responses, JSON.stringify(body)).toMatchObject([{ infer_details: { status: 200 }, files: {} }]);
  const shown = await gantry.call("GET", `/api/v2/predictions/${id}`);
  expect([shown.status, shown.body.files], shown.text).toEqual([200, {}]);
});

describe("an error with an endless body", () => {
  const begin = (response: ServerResponse, status: number) => {
    response.writeHead(status, { "content-type": "application/json", "content-length": "100" });
    response.write('{"detail"');
  };

  test.each([
    ["plain/predict", 400, 502],
    ["plain/predict", 422, 502],
    ["chat/predict/stream", 400, 502],
  ])("of %s with %i is reported by its status without delay", async (path, status, expected) => {
    answer = (response) => begin(response, status);
    const beganAt = performance.now();
    const told = await gantry.call("POST", `/api/v1/admin/${path}`, { form: { prompt: "x" } });
    expect(performance.now() - beganAt).toBeLessThan(20_000);
    const seen = told.status === 200 ? Number(/"status":(\d{3})\}\s*$/.exec(told.text)?.[1]) : told.status;
    expect(seen, told.text).toBe(expected);
  });
});

/** A stream of this many letters that then hangs. */
function pour(response: ServerResponse, letters: number): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (let n = 0; n < letters / 1_000; n++) {
    const words = Array.from({ length: 200 }, (_, at) => ((n * 200 + at) * 7919).toString(36).slice(-4)).join(" ");
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: `${words} ` } }] })}\n\n`);
  }
}

/** Reads this much of a stream, then calls `then`. */
async function readMuch(model: string, key: string, letters: number, then: (id: string) => unknown): Promise<void> {
  const stop = new AbortController();
  const form = { prompt: "a long one", max_tokens: "3000000" };
  const path = `/api/v1/admin/${model}/predict/stream/`;
  const response = await gantry.fetch("POST", path, { key, form, signal: stop.signal });
  let seen = 0;
  try {
    for await (const chunk of response.body ?? []) {
      seen += chunk.length;
      if (seen < letters) continue;
      await then(response.headers.get("x-prediction-id") ?? "");
      stop.abort();
    }
  } catch {
    // Expected after the disconnect.
  }
}

test("a disconnect in a long answer is charged for it, also when many disconnect together", async () => {
  const key = await gantry.newUser("leaver", { plan: "unlimited", credit: 1_000 });
  answer = (response) => pour(response, 200_000);
  await Promise.all(Array.from({ length: 6 }, () => readMuch("chat", key, 210_000, () => {})));
  let rows: { status: number; price: number; output_tokens: number }[] = [];
  await waitFor(
    "all to be written",
    async () => {
      rows = (await gantry.call("GET", "/api/v2/usage", { key })).body.results;
      return rows.length === 6;
    },
    60_000,
  );
  for (const row of rows) {
    expect(row.status).toBe(499);
    expect(row.output_tokens).toBeGreaterThan(40_000);
    expect(row.price).toBeCloseTo(row.output_tokens / 100_000, 5);
  }
}, 90_000);

test("so is a quick cancel of a long answer, without the time spent counting", async () => {
  const letters = 6_000_000;
  answer = (response) => pour(response, letters);
  const key = await gantry.newUser("canceller", { plan: "unlimited", credit: 10_000 });
  const statuses: number[] = [];
  let cancelMs = 0;
  const cancel = async (model: string, id: string) => {
    const path = `/api/v1/admin/${model}/predict/cancel/?prediction_id=${id}`;
    const beganAt = performance.now();
    statuses.push((await gantry.call("POST", path, { key })).body.status);
    cancelMs = performance.now() - beganAt;
    expect(cancelMs).toBeLessThan(30_000);
  };
  await Promise.all(Array.from({ length: 4 }, () => readMuch("chat", key, letters, (id) => cancel("chat", id))));
  const beganAt = performance.now();
  let readMs = 0;
  await readMuch("timed", key, letters, (id) => {
    readMs = performance.now() - beganAt;
    return cancel("timed", id);
  });
  expect(statuses).toEqual([499, 499, 499, 499, 499]);
  const { results } = (await gantry.call("GET", "/api/v2/usage", { key })).body;
  const [timed, ...chats] = results as { price: number; output_tokens: number; inference_time: number }[];
  for (const { price, output_tokens: tokens } of chats) {
    expect(tokens).toBeGreaterThan(1_000_000);
    expect(price).toBeCloseTo(tokens / 100_000, 5);
  }
  expect(timed?.price).toBeGreaterThan(0);
  expect(timed?.price).toBeLessThan((readMs + cancelMs / 2) / 1000 + 0.3);
}, 120_000);

describe("a model that changes while a request is sent", () => {
  /** Sends all but the end, applies the change, then sends the end. */
  async function callAcross(path: string, key: string, change: () => Promise<unknown>): Promise<string> {
    answer = (response) => json(response, `{"status":"succeeded","output":"done"}`);
    const body = '--b\r\nContent-Disposition: form-data; name="prompt"\r\n\r\nx\r\n--b--\r\n';
    const { hostname, port } = new URL(gantry.url);
    const socket = connect(Number(port), hostname);
    let seen = "";
    socket.on("data", (chunk) => {
      seen += chunk.toString("latin1");
    });
    socket.write(
      `POST /api/v1/admin/changing/${path} HTTP/1.1\r\nHost: h\r\nX-API-KEY: ${key}\r\nConnection: close\r\n` +
        `Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, -4)}`,
    );
    await sleep(300);
    await change();
    socket.write(body.slice(-4));
    await once(socket, "close");
    return seen;
  }
  const patch = (json: object) => gantry.call("PATCH", "/api/v1/admin/changing", { json });

  test.each(["predict", "predict/async"])("%s: has the price of its acceptance", async (path) => {
    const key = await gantry.newUser(`payer-${path.length}`, { plan: "unlimited", credit: 10 });
    expect(await callAcross(path, key, () => patch({ pricing: { per_request: 0.7 } }))).toMatch(/^HTTP\/1.1 200/);
    await waitFor("its end", async () => {
      const { body } = await gantry.call("GET", "/api/v2/usage", { key });
      return body.total_count === 1 && body.results[0].price === 0.7;
    });
    await patch({ pricing: { per_request: 0.01 } });
  });

  test.each(["predict", "predict/stream", "predict/async"])(
    "%s: is only for its owner once it is private",
    async (path) => {
      const key = await gantry.newUser(`other-${path.length}`, { plan: "unlimited", credit: 10 });
      expect(await callAcross(path, key, () => patch({ visibility: "private" }))).toMatch(/^HTTP\/1.1 403/);
      await patch({ visibility: "public" });
    },
  );

  test("with another schema the request must be repeated", async () => {
    const key = await gantry.newUser("asked-again", { plan: "unlimited", credit: 10 });
    const wide = { ...input, properties: { ...input.properties, more: text } };
    const seen = await callAcross("predict", key, () => patch({ input: wide }));
    expect(seen).toMatch(/^HTTP\/1.1 503/);
    expect(seen).toContain("Send the request again.");
    expect(seen.toLowerCase()).toContain("x-service-retryable: true");
  });
});

test("only the caller can fetch and cancel a prediction after its model became private", async () => {
  const [key, stranger] = [await gantry.newUser("beginner"), await gantry.newUser("stranger")];
  const open: ServerResponse[] = [];
  answer = (response) => void open.push(response);
  const accept = async () =>
    (await gantry.call("POST", "/api/v1/admin/plain/predict/async", { key, form: { prompt: "x" } })).body.prediction_id;
  const [first, second] = [await accept(), await accept()];
  await waitFor("both to run", () => open.length === 2);
  await gantry.call("PATCH", "/api/v1/admin/plain", { json: { visibility: "private" } });
  const result = (id: string, by: string) =>
    gantry.call("GET", `/api/v1/admin/plain/predict/async/result?request_id=${id}&wait=10`, { key: by });
  const cancel = (id: string, by: string) =>
    gantry.call("POST", `/api/v1/admin/plain/predict/cancel?prediction_id=${id}`, { key: by });
  expect((await result(first, stranger)).status).toBe(403);
  expect((await cancel(first, stranger)).status).toBe(403);
  for (const odd of ["", `${first}&prediction_id=${first}`]) {
    expect((await result(odd, stranger)).status, odd).toBe(403);
    expect((await cancel(odd, stranger)).status, odd).toBe(403);
  }
  expect((await gantry.call("POST", "/api/v1/admin/plain/predict", { key, form: { prompt: "x" } })).status).toBe(403);
  expect((await cancel(second, key)).body).toEqual({ prediction_id: second, status: 499 });
  for (const response of open) json(response, '{"status":"succeeded","output":"paid for"}');
  expect((await result(first, key)).body.inference_responses[0]).toMatchObject({
    infer_details: { status: 200 },
    response: { output: "paid for" },
  });
});
