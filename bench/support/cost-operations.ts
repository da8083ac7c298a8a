import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import type { Database } from "../../apps/server/src/engines/database/index.ts";
import { adminKey, type ServedGantry } from "./gantry.ts";
import { formRequest, load } from "./load.ts";
import type { Served } from "./processes.ts";
import { loadStreams } from "./stream-load.ts";

export interface Upstreams {
  instant: Served;
  tokens: Served;
  agent: Served;
}

export interface Operation {
  name: string;
  /** Fewer tell little: the processors' clocks and PostgreSQL's background work are coarse. */
  least: number;
  /** Repeats the operation for some seconds and waits for its end. Returns how often. */
  run(connections: number, seconds: number): Promise<number>;
}

export interface Caller {
  key: string;
  agentId: string;
}

const fileBytes = 100_000;
const text = { type: "string" };
const common = { description: "A model of the benchmark.", visibility: "public", capacity: 10_000 };
const output = { type: "object", required: ["output"], properties: { output: text } };

async function call(gantry: Served, key: string, method: string, path: string, body?: unknown) {
  const response = await fetch(`http://127.0.0.1:${gantry.port}${path}`, {
    method,
    headers: { "x-api-key": key, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
  return response.json() as Promise<Record<string, string>>;
}

/** Creates the models, and users with a key, credit and an agent each. */
export async function prepare(gantry: ServedGantry, upstreams: Upstreams, users: number): Promise<Caller[]> {
  const [instant, tokens, agent] = [upstreams.instant, upstreams.tokens, upstreams.agent].map(
    ({ port }) => `http://127.0.0.1:${port}`,
  );
  const prompt = { type: "object", required: ["prompt"], properties: { prompt: text } };
  await gantry.putModel("instant", {
    ...{ ...common, title: "Instant", kind: "other", pricing: { per_request: 0.000001 } },
    ...{ input: prompt, output, backend: { type: "cog", url: instant } },
  });
  await gantry.putModel("viewer", {
    ...{ ...common, title: "Viewer", kind: "other", pricing: { per_request: 0.000001 }, output },
    input: { type: "object", properties: { file: { type: "string", format: "binary", "x-media": "file" } } },
    backend: { type: "cog", url: instant },
  });
  const chat = {
    ...{ ...common, kind: "text", pricing: { per_million_input_tokens: 0.1, per_million_output_tokens: 0.4 } },
    ...{ input: prompt, output: { ...output, properties: { output: { ...text, isStream: true } } } },
  };
  const backend = { type: "openai-chat", model: "mock" };
  await gantry.putModel("tokens", { ...chat, title: "Tokens", backend: { ...backend, url: `${tokens}/v1` } });
  await gantry.putModel("agent", { ...chat, title: "Agent", backend: { ...backend, url: `${agent}/v1` } });
  const callers: Caller[] = [];
  for (let n = 0; n < users; n++) {
    const username = `caller-${n}`;
    await call(gantry, adminKey, "POST", "/api/v2/admin/users", { username, plan: "unlimited" });
    await call(gantry, adminKey, "POST", `/api/v2/admin/users/${username}/credits`, { amount: 1000, reason: "bench" });
    const { key = "" } = await call(gantry, adminKey, "POST", `/api/v2/admin/users/${username}/keys`, {});
    const { id: agentId = "" } = await call(gantry, key, "POST", "/v1/agents", {
      name: "Weather",
      goal: "Find out the weather of five places and sum it up.",
      tools: ["http_request"],
      model: "admin/agent",
    });
    await call(gantry, key, "POST", `/v1/agents/${agentId}/publish`, {});
    callers.push({ key, agentId });
  }
  return callers;
}

/** What a user of the console loads with its first page. */
const overview = [
  "/api/v2/me",
  "/api/v2/predictions?page_size=6",
  "/v1/runs?limit=6",
  "/v1/agents?limit=1",
  "/v1/confirmations?status=pending",
  "/api/v2/series?metric=spend",
  "/api/v2/series?metric=errors",
  "/api/v2/series?metric=spend&group_by=model&step=day",
];

/** Each connection belongs to one of the users. */
export function operationsOf(
  gantry: Served,
  upstreams: Upstreams,
  callers: readonly Caller[],
  database: Database,
): Operation[] {
  const model = "/api/v1/admin";
  const form = (path: string, fields: Record<string, string>) =>
    callers.map(({ key }) => formRequest(model + path, fields, { "X-API-KEY": key }));
  const fields = { prompt: "a lighthouse in the fog" };
  const webhook = JSON.stringify({ url: `http://127.0.0.1:${upstreams.instant.port}/hook` });
  const toPredict = form("/instant/predict", fields);
  const toStream = form("/tokens/predict/stream/", fields);
  const toQueue = form("/instant/predict/async/", { ...fields, webhook });

  async function sendForms(request: readonly Buffer[], connections: number, seconds: number): Promise<number> {
    const { requests, failures } = await load({ port: gantry.port, request, connections, seconds });
    if (failures > 0) throw new Error(`${failures} of ${requests} requests failed`);
    return requests;
  }

  /** For operations of several requests. */
  async function repeat(connections: number, seconds: number, one: (caller: Caller, pool: Pool) => Promise<void>) {
    const pool = new Pool(`http://127.0.0.1:${gantry.port}`, { connections, headersTimeout: 120_000 });
    const until = performance.now() + seconds * 1000;
    let done = 0;
    await Promise.all(
      Array.from({ length: connections }, async (_, n) => {
        for (; performance.now() < until; done++) {
          await one(callers[n % callers.length] ?? { key: "", agentId: "" }, pool);
        }
      }),
    );
    await pool.close();
    return done;
  }

  async function answer(pool: Pool, key: string, path: string, request?: { type: string; body: Buffer | string }) {
    const { statusCode, body } = await pool.request({
      path,
      method: request ? "POST" : "GET",
      headers: { "x-api-key": key, ...(request && { "content-type": request.type }) },
      ...(request && { body: request.body }),
    });
    const received = await body.text();
    if (statusCode >= 300) throw new Error(`${path}: ${received}`);
    return JSON.parse(received);
  }

  const multipart = (bytes: Buffer) => ({
    type: /Content-Type: (.*)\r\n/.exec(String(bytes))?.[1] ?? "",
    body: bytes.subarray(bytes.indexOf("\r\n\r\n") + 4),
  });
  const content = "The quick brown fox jumps over the lazy dog. ".repeat(fileBytes / 45);
  const head = '--bench\r\nContent-Disposition: form-data; name="file"; filename="fox.txt"\r\n\r\n';
  const upload = { type: "multipart/form-data; boundary=bench", body: `${head}${content}\r\n--bench--\r\n` };

  return [
    { name: "sync prediction", least: 1000, run: (connections, seconds) => sendForms(toPredict, connections, seconds) },
    {
      name: "stream of 200 tokens",
      least: 500,
      async run(connections, seconds) {
        const until = performance.now() + seconds * 1000;
        let done = 0;
        for (; performance.now() < until; done += connections)
          await loadStreams({ port: gantry.port, request: toStream, streams: connections });
        return done;
      },
    },
    {
      name: "queued prediction with webhook",
      least: 1000,
      async run(connections, seconds) {
        const sent = await sendForms(toQueue, connections, seconds);
        for (let left = 1; left > 0; await sleep(100)) {
          const [row] = await database.sql<{ n: number }[]>`
            select (select count(*) from live_predictions)::int
              + (select count(*) from webhook_deliveries where status = 'pending')::int as n`;
          left = row?.n ?? 0;
        }
        return sent;
      },
    },
    {
      name: "upload of 100 kB and its use",
      least: 200,
      run: (connections, seconds) =>
        repeat(connections, seconds, async ({ key }, pool) => {
          const { file_input } = await answer(pool, key, `${model}/viewer/upload_file`, upload);
          const use = multipart(formRequest("/", { file: file_input.s3_path }, {}));
          await answer(pool, key, `${model}/viewer/predict`, use);
        }),
    },
    {
      name: "agent run, five tool calls",
      least: 100,
      run: (connections, seconds) =>
        repeat(connections, seconds, async ({ key, agentId }, pool) => {
          const body = JSON.stringify({ input: {}, wait: 60 });
          const run = await answer(pool, key, `/v1/agents/${agentId}/runs`, { type: "application/json", body });
          if (run.status !== "done") throw new Error(JSON.stringify(run));
        }),
    },
    {
      name: `console overview, ${overview.length} reads`,
      least: 100,
      run: (connections, seconds) =>
        repeat(connections, seconds, async ({ key }, pool) => {
          await Promise.all(overview.map((path) => answer(pool, key, path)));
        }),
    },
  ];
}
