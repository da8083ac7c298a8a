import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connect } from "../../src/engines/database/index.ts";
import { verifyLedger } from "../../src/features/billing/index.ts";
import { type OwnPostgres, startOwnPostgres } from "../support/own-postgres.ts";
import { type SlowCog, startSlowCog } from "../support/slow-cog.ts";
import { waitFor } from "../support/wait-for.ts";
import { adminKey, bodyOf, type ServerProcess, startServer } from "./server-process.ts";

/** A database that accepts connections and never answers is harder to detect than one that is down. */
let room: string;
let postgres: OwnPostgres;
let cog: SlowCog;
let server: ServerProcess;
let url: string;

beforeAll(async () => {
  room = await mkdtemp(join(tmpdir(), "gantry-stalled-"));
  postgres = await startOwnPostgres();
  cog = await startSlowCog();
  server = startServer({
    DATABASE_URL: postgres.url,
    GANTRY_HOME: room,
    GANTRY_ADMIN_KEY: adminKey,
    GANTRY_ALLOW_PRIVATE_NETWORK: "1",
    GANTRY_LOG_LEVEL: "silent",
  });
  url = await server.url();
}, 60_000);

afterAll(async () => {
  server?.kill("SIGKILL");
  await server?.exit;
  await cog?.close();
  await postgres?.stop();
  await rm(room, { recursive: true, force: true });
}, 60_000);

const call = (method: string, path: string, body?: FormData | string, key = adminKey): Promise<Response> =>
  fetch(url + path, {
    method,
    headers: { "x-api-key": key, ...(typeof body === "string" && { "content-type": "application/json" }) },
    ...(body !== undefined && { body }),
  });

function formOf(fields: Record<string, string | Blob>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}

const readiness = async () => (await fetch(`${url}/readyz`)).status;
/** One query deadline, one more for a query that waits for a connection, and slack for a busy machine. */
const longestMs = 25_000;

test("while the database stalls, requests fail with a retryable 503; afterwards the server recovers by itself", async () => {
  const text = { type: "string" };
  const manifest = {
    title: "slow",
    description: "A model of the tests.",
    kind: "other",
    visibility: "private",
    capacity: 20,
    pricing: { per_request: 0.01 },
    input: { type: "object", required: ["prompt"], properties: { prompt: text } },
    output: { type: "object", required: ["output"], properties: { output: text } },
    backend: { type: "cog", url: cog.url },
  };
  expect((await call("PUT", "/api/v1/admin/slow", JSON.stringify(manifest))).status).toBe(201);
  const model = "/api/v1/admin/slow";
  const predict = (way: string) => call("POST", `${model}/predict${way}`, formOf({ prompt: "x" }));
  const running = predict("");
  const queued = await bodyOf(await predict("/async/"));
  await waitFor("both to run", () => cog.open === 2);

  await postgres.pause();
  await waitFor("it to say so", async () => (await readiness()) === 503);
  // Both calls end while the database cannot record it.
  cog.finishAll();
  const requests: [string, () => Promise<Response>][] = [
    ["sync", () => predict("")],
    ["stream", () => predict("/stream/")],
    ["async", () => predict("/async/")],
    ["cancel", () => call("POST", `${model}/predict/cancel/?prediction_id=${queued.prediction_id}`)],
    ["result", () => call("GET", `${model}/predict/async/result/?request_id=${queued.prediction_id}`)],
    ["result, waiting", () => call("GET", `${model}/predict/async/result/?request_id=${queued.prediction_id}&wait=5`)],
    ["flow", () => call("GET", `${model}/flow`)],
    ["upload", () => call("POST", `${model}/upload_file`, formOf({ file: new Blob(["x"]) }))],
    ["upload link", () => call("GET", `${model}/upload_url`)],
    ["me", () => call("GET", "/api/v2/me")],
    ["usage", () => call("GET", "/api/v2/usage")],
    ["expenses", () => call("GET", "/admin/expenses/")],
    ["secrets", () => call("PUT", "/api/v2/secrets/one", JSON.stringify({ value: "x" }))],
    ["new model", () => call("PUT", "/api/v1/admin/other", JSON.stringify(manifest))],
    ["an unknown key", () => call("GET", "/api/v2/me", undefined, "gk_aaaaaaaaaaaa_unknown")],
    ["agents", () => call("GET", "/v1/agents")],
  ];
  const answers = await Promise.all(
    requests.map(async ([name, send]) => {
      const startedAt = performance.now();
      const answer = await send();
      await answer.arrayBuffer();
      const ms = performance.now() - startedAt;
      const retryable = answer.headers.get("x-service-retryable");
      return { name, seen: `${answer.status} ${retryable}`, late: ms > longestMs ? ms : undefined };
    }),
  );
  expect(answers.filter(({ seen, late }) => seen !== "503 true" || late !== undefined)).toEqual([]);
  expect(await readiness()).toBe(503);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);

  await postgres.resume();
  await waitFor("it to be ready by itself", async () => (await readiness()) === 200, 15_000);
  // Finished work is charged once, and its result reaches the waiting client.
  const answer = await running;
  expect([200, 503]).toContain(answer.status);
  const question = `${model}/predict/async/result/?request_id=${queued.prediction_id}&wait=30`;
  await waitFor(
    "the queued one to end",
    async () => {
      const { inference_responses: found } = await bodyOf(await call("GET", question));
      return found?.[0]?.infer_details.status === 200;
    },
    60_000,
  );
  const again = predict("");
  await waitFor("another one to run", () => cog.open === 1);
  cog.finishAll();
  expect((await again).status).toBe(200);
  const books = connect({ url: postgres.url, poolSize: 1 });
  try {
    await waitFor(
      "every end to be written",
      async () => (await books.sql`select 1 from live_predictions`).length === 0,
      30_000,
    );
    expect(await verifyLedger(books)).toEqual([]);
    const [charged] = await books.sql<{ n: number }[]>`select count(*)::int as n from usage where price_micros > 0`;
    const [ended] = await books.sql<{ n: number }[]>`
      select count(*)::int as n from ended_predictions where status = 200`;
    expect(charged?.n).toBe(ended?.n);
  } finally {
    await books.close();
  }
}, 150_000);
