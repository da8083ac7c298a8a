import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect, type Database } from "../../src/engines/database/index.ts";
import { type Answer, call, newUser, putModel, send, textModel } from "../proof/client.ts";
import { untilQuiet } from "../proof/money-storm.ts";
import { promptOf, type Script, startUpstreams, type Upstreams } from "../proof/upstreams.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { gantryCommand } from "../support/gantry-command.ts";
import { type LoadBalancer, startLoadBalancer } from "../support/load-balancer.ts";
import { type OwnPostgres, startOwnPostgres } from "../support/own-postgres.ts";
import { ownRabbitMq } from "../support/rabbitmq.ts";
import type { RabbitMqNode } from "../support/rabbitmq-node.ts";
import { readStream } from "../support/read-stream.ts";
import { testS3 } from "../support/s3.ts";
import type { SwiftNode } from "../support/swift-node.ts";
import { waitFor } from "../support/wait-for.ts";

/** Two API processes and two workers on real PostgreSQL, RabbitMQ (over TLS) and S3. */
interface House {
  postgres: OwnPostgres;
  rabbit: RabbitMqNode;
  s3: SwiftNode;
  upstreams: Upstreams;
  cluster: Cluster;
  balancer: LoadBalancer;
  database: Database;
}
let house: House | undefined;
const toClose: (() => Promise<unknown>)[] = [];
// Outside of the hook, whose time could end while packages are installed.
const [rabbit, s3] = [await ownRabbitMq(), await testS3()];

beforeAll(async () => {
  const postgres = await startOwnPostgres();
  for (const engine of [rabbit, s3, postgres]) if (engine) toClose.push(engine.stop);
  if (!rabbit || !s3) return;
  const upstreams = await startUpstreams();
  const env = {
    AMQP_URL: rabbit.tlsUrl(0),
    GANTRY_EXTRA_CA: rabbit.caFile,
    S3_ENDPOINT: s3.endpoint,
    S3_BUCKET: s3.bucket,
    S3_REGION: s3.region,
    S3_ACCESS_KEY_ID: s3.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    GANTRY_STOP_DELAY_SECONDS: "2",
  };
  const [api, worker] = [{ GANTRY_ROLE: "api" }, { GANTRY_ROLE: "worker", GANTRY_WORKER_PARALLEL: "16" }];
  const nodes = { "api-1": api, "api-2": api, "worker-1": worker, "worker-2": worker };
  const cluster = await startCluster({ databaseUrl: postgres.url, env, nodes });
  const balancer = await startLoadBalancer(() => cluster.nodes.filter(({ name }) => name.startsWith("api")));
  const database = connect({ url: postgres.url, poolSize: 2 });
  toClose.unshift(balancer.close, cluster.close, database.close, upstreams.close);
  house = { postgres, rabbit, s3, upstreams, cluster, balancer, database };
  const { url } = cluster.node("api-1");
  const cog = { type: "cog", url: upstreams.cogUrl };
  const chat = { type: "openai-chat", url: upstreams.chatUrl, model: "test" };
  const pricing = { per_request: 0.001 };
  await putModel(url, "make", { capacity: 200, pricing, backend: cog });
  await putModel(url, "five", { capacity: 5, pricing, backend: cog });
  await putModel(url, "say", { capacity: 200, pricing, ...textModel, backend: chat });
  await waitFor("both to be in use", () => balancer.inUse().length === 2);
}, 120_000);

afterAll(async () => {
  for (const close of toClose) await close();
}, 60_000);

/** Skipped with a message where RabbitMQ or S3 is missing. */
const testHere = (name: string, work: (house: House) => Promise<void>, milliseconds: number) =>
  test(name, async ({ skip }) => (house ? work(house) : skip("NOT TESTED: RabbitMQ or S3 is missing")), milliseconds);

const promptFor = (mark: string, script: Partial<Script> = {}) =>
  promptOf({ end: "ok", ms: 0, words: 4, inputTokens: 1, outputTokens: 1, mark, ...script });
const path = (model: string, way: "" | "/stream/" | "/async/" | "/cancel/" | "/async/result/") =>
  `/api/v1/admin/${model}/predict${way}`;
const statusOf = (answer: Answer): number => answer.body.inference_responses[0].infer_details.status;

async function* readLines(response: Response): AsyncGenerator<Record<string, unknown>> {
  let rest = "";
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line);
  }
}

describe("a cluster of four processes", () => {
  testHere(
    "a stream on one node is cancelled through another, and its upstream call with it",
    async (here) => {
      const [one, two] = [here.cluster.node("api-1"), here.cluster.node("api-2")];
      const response = await send(one.url, "POST", path("say", "/stream/"), {
        form: { prompt: promptFor("cancelled", { end: "hang" }) },
      });
      const events = readStream(response);
      const { prediction_id: id } = (await events.next()).value;
      expect((await events.next()).value).toMatchObject({ output_data: { output: ["word0 "] } });
      const asked = performance.now();
      const cancelled = await call(two.url, "POST", path("say", "/cancel/"), { json: { prediction_id: id } });
      expect([cancelled.status, cancelled.body]).toEqual([200, { prediction_id: id, status: 499 }]);
      await waitFor("the upstream call to be stopped", () => here.upstreams.open === 0);
      const rest = await Array.fromAsync(events);
      expect(rest.at(-1)).toMatchObject({ status: 499, detail: [{ type: "generation_cancelled" }] });
      expect(performance.now() - asked).toBeLessThan(20_000);
    },
    20_000,
  );

  testHere(
    "JSON lines of a queued run are live on a node that neither accepted nor runs it",
    async (here) => {
      const [one, two] = [here.cluster.node("api-1"), here.cluster.node("api-2")];
      const accepted = await call(one.url, "POST", path("say", "/async/"), {
        form: { prompt: promptFor("lines", { end: "hang", ms: 40 }) },
      });
      const id = accepted.body.prediction_id;
      const response = await send(two.url, "GET", `${path("say", "/async/result/")}?request_id=${id}`, {
        headers: { accept: "application/x-ndjson" },
      });
      expect(response.headers.get("content-type")).toContain("application/x-ndjson");
      const lines = readLines(response);
      expect((await lines.next()).value).toEqual({ prediction_id: id });
      const said: string[] = [];
      const hear = (line: Record<string, unknown>) =>
        said.push(...((line.output_data as { output?: string[] }).output ?? []));
      hear((await lines.next()).value ?? {});
      // Still running: the upstream is paused.
      expect(here.upstreams.open).toBe(1);
      expect(said.join("")).toMatch(/^word0 /);
      here.upstreams.release(id);
      let last: Record<string, unknown> = {};
      for await (const line of lines) {
        hear(line);
        last = line;
      }
      expect(said.join("")).toBe("word0 word1 word2 word3 ");
      expect(last).toMatchObject({
        status: 200,
        output_data: {},
        stream_details: { input_tokens: 1, output_tokens: 1 },
      });
      const [row] = await here.database.sql<{ n: number }[]>`
      select count(*)::int as n from prediction_fragments where prediction_id = ${id}`;
      expect(row?.n).toBe(0);
    },
    20_000,
  );

  testHere(
    "a file that one node stored is given out by the other, straight from S3",
    async (here) => {
      const [one, two] = [here.cluster.node("api-1"), here.cluster.node("api-2")];
      const accepted = await call(one.url, "POST", "/api/v1/gantry/image/predict/async/", {
        form: { prompt: "a crane", size: "1280x720" },
      });
      const result = await call(
        two.url,
        "GET",
        `/api/v1/gantry/image/predict/async/result/?request_id=${accepted.body.prediction_id}&wait=30`,
      );
      expect(statusOf(result)).toBe(200);
      const link: string = result.body.inference_responses[0].files.image.url;
      expect(link.startsWith(here.s3.endpoint)).toBe(true);
      const image = await fetch(link);
      expect([image.status, image.headers.get("content-type")]).toEqual([200, expect.stringMatching(/^image\//)]);
      expect((await image.arrayBuffer()).byteLength).toBeGreaterThan(10_000);
    },
    40_000,
  );

  testHere(
    "the capacity of a model and the limits of a plan are exact",
    async (here) => {
      const { url } = here.balancer;
      const ways = ["", "/stream/", "/async/"] as const;
      const many = (count: number, one: (n: number) => Promise<Answer>) =>
        Promise.all(Array.from({ length: count }, (_, n) => one(n)));
      const answers = await many(60, (n) =>
        call(url, "POST", path("five", ways[n % 3] ?? ""), { form: { prompt: promptFor("five", { ms: 30 }) } }),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(60);
      await untilQuiet(here.database, 20_000);
      expect(here.upstreams.most("five")).toBe(5);

      const key = await newUser(url, "narrow", { plan: "free" });
      const form = { prompt: promptFor("narrow", { end: "hang" }) };
      let refused = 0;
      const held = many(30, async () => {
        const answer = await call(url, "POST", path("make", ""), { key, form });
        if (answer.status === 429) refused++;
        return answer;
      });
      await waitFor("26 refusals", () => refused === 26);
      await waitFor("four calls", () => here.upstreams.open === 4);
      for (const id of here.upstreams.seen.keys()) here.upstreams.release(id);
      expect((await held).filter(({ status }) => status === 200)).toHaveLength(4);
      expect(here.upstreams.most("narrow")).toBe(4);
      // Refusals do not count, so 56 of 60 requests a minute are left. Queued predictions do not count as parallel.
      const rated = await many(80, () =>
        call(url, "POST", path("make", "/async/"), { key, form: { prompt: promptFor("rated") } }),
      );
      expect(rated.filter(({ status }) => status === 200)).toHaveLength(56);
      expect(rated.filter(({ body }) => body.type === "rate_limit")).toHaveLength(24);
    },
    60_000,
  );
});

/** Clients that call all endpoints without pause, with the outcome of each request. */
function startLoad({ balancer }: House, clients: number) {
  const counts = { sync: 0, stream: 0, async: 0, retryable: 0 };
  const failed: string[] = [];
  let going = true;
  const isRetryable = ({ status, headers }: { status: number; headers: Headers }) =>
    status === 503 && headers.get("x-service-retryable") === "true";

  async function stream(prompt: string): Promise<Answer | Response> {
    const response = await send(balancer.url, "POST", path("say", "/stream/"), { form: { prompt } });
    if (response.status !== 200) return response;
    const last = (await Array.fromAsync(readStream(response))).at(-1);
    if (last.status !== 200 || !last.stream_details) throw new Error(`a stream ended with ${JSON.stringify(last)}`);
    return response;
  }

  async function queue(prompt: string): Promise<Answer> {
    const accepted = await call(balancer.url, "POST", path("make", "/async/"), { form: { prompt } });
    if (accepted.status !== 200) return accepted;
    const question = `${path("make", "/async/result/")}?request_id=${accepted.body.prediction_id}&wait=20`;
    for (;;) {
      const result = await call(balancer.url, "GET", question);
      if (isRetryable(result)) counts.retryable++;
      else if (result.status !== 200 || statusOf(result) === 200) return result;
      else if (statusOf(result) !== 202) throw new Error(`a job ended with ${result.text}`);
    }
  }

  async function client(number: number): Promise<void> {
    for (let n = number; going; n++) {
      const way = (["sync", "stream", "async"] as const)[n % 3] ?? "sync";
      const prompt = promptFor("load", { ms: 20 + ((n * 37) % 200) });
      try {
        const answer = await (way === "sync"
          ? call(balancer.url, "POST", path("make", ""), { form: { prompt } })
          : way === "stream"
            ? stream(prompt)
            : queue(prompt));
        if (answer.status === 200) counts[way]++;
        else if (isRetryable(answer)) counts.retryable++;
        else failed.push(`${way}: ${answer.status}`);
      } catch (error) {
        failed.push(`${way}: ${error instanceof Error ? `${error.message} ${error.cause ?? ""}` : error}`);
      }
      await sleep(20);
    }
  }
  const running = Promise.all(Array.from({ length: clients }, (_, n) => client(n)));
  return {
    counts,
    failed,
    async stop() {
      going = false;
      await running;
    },
  };
}

describe("a rolling restart", () => {
  testHere(
    "of every process under load fails no request",
    async (here) => {
      const { cluster, balancer } = here;
      const load = startLoad(here, 12);
      const done = () => load.counts.sync + load.counts.stream + load.counts.async;
      await waitFor("load", () => done() > 30);
      for (const name of ["api-1", "worker-1", "api-2", "worker-2"]) {
        const node = cluster.node(name);
        const exit = node.terminate();
        if (name.startsWith("api")) {
          // Reports not ready first, keeps serving, and closes its connections.
          await waitFor(`${name} to say so`, async () => (await send(node.url, "GET", "/readyz")).status === 503);
          const served = await call(node.url, "GET", "/api/v2/me");
          expect([served.status, served.headers.get("connection")]).toEqual([200, "close"]);
          await waitFor(`${name} to be out`, () => !balancer.inUse().includes(name));
        }
        expect(await exit, node.output().slice(-3000)).toEqual({ code: 0, signal: null });
        await node.start();
        if (name.startsWith("api")) await waitFor(`${name} to be in`, () => balancer.inUse().includes(name), 10_000);
        const before = done();
        await waitFor("more load", () => done() > before + 10);
      }
      await load.stop();
      const told = `${JSON.stringify(load.counts)}, given: ${JSON.stringify([...balancer.given])}`;
      expect([...load.failed, ...balancer.broken], told).toEqual([]);
      // The balancer polls ten times a second, so it notices within the two seconds of grace.
      expect(load.counts.retryable, told).toBe(0);
      expect(Math.min(load.counts.sync, load.counts.stream, load.counts.async), told).toBeGreaterThan(10);
      process.stderr.write(`rolling restart: ${told}\n`);
    },
    240_000,
  );
});

describe("an engine that is killed and comes back", () => {
  testHere(
    "costs no accepted job its end, and the books are right",
    async (here) => {
      const { balancer, postgres, rabbit, s3, upstreams, database } = here;
      const accepted = new Map<string, { model: string; killed: string }>();

      /** A client that retries a lost answer with the same Idempotency-Key. */
      async function accept(killed: string, model: string, form: Record<string, string>, key: string): Promise<void> {
        const route = `/api/v1/${model}/predict/async/`;
        for (const until = Date.now() + 30_000; ; await sleep(100)) {
          const headers = { "idempotency-key": key };
          const answer = await call(balancer.url, "POST", route, { form, headers }).catch(() => undefined);
          if (answer?.status === 200) {
            accepted.set(answer.body.prediction_id, { model, killed });
            return;
          }
          if (answer && answer.status < 500) throw new Error(`a job was refused: ${answer.status} ${answer.text}`);
          if (Date.now() > until) throw new Error(`a job was not accepted: ${answer?.status} ${answer?.text}`);
        }
      }

      for (const [name, engine] of Object.entries({ postgres, rabbit, s3 })) {
        const jobs = (part: string, count: number, ms: number) =>
          Promise.all([
            ...Array.from({ length: count }, (_, n) =>
              accept(name, "admin/make", { prompt: promptFor(`${name}-${n}`, { ms }) }, `${name}-${part}-make-${n}`),
            ),
            ...Array.from({ length: count }, (_, n) =>
              accept(name, "admin/say", { prompt: promptFor(`${name}-${n}`, { ms }) }, `${name}-${part}-say-${n}`),
            ),
            ...Array.from({ length: 2 }, (_, n) =>
              accept(name, "gantry/image", { prompt: `${name} ${n}`, size: "1280x720" }, `${name}-${part}-image-${n}`),
            ),
          ]);
        await jobs("before", 6, 8_000);
        await waitFor("jobs to be under way", () => upstreams.open >= 8);
        await engine.kill();
        const meanwhile = jobs("during", 3, 100);
        await sleep(500);
        await engine.start();
        await meanwhile;
      }
      await untilQuiet(database, 60_000);
      expect(accepted.size).toBe(3 * (2 * 6 + 2 + 2 * 3 + 2));
      await waitFor("all nodes to be ready again", () => balancer.inUse().length === 2, 15_000);

      const ends: Record<string, number> = {};
      for (const [id, { model, killed }] of accepted) {
        const answer = await call(balancer.url, "GET", `/api/v1/${model}/predict/async/result/?request_id=${id}`);
        const status = statusOf(answer);
        const end = `${killed} ${model} ${status}`;
        ends[end] = (ends[end] ?? 0) + 1;
        // A result with a file may have failed to be stored; text needs no store.
        const mayFail = model === "gantry/image" && killed !== "rabbit";
        expect(mayFail ? [200, 503] : [200], `${killed}: ${answer.text}`).toContain(status);
      }
      // A queued result with a file needs all three engines.
      await accept("none", "gantry/image", { prompt: "afterwards", size: "1280x720" }, "afterwards");
      const afterwards = [...accepted.keys()].at(-1);
      const question = `/api/v1/gantry/image/predict/async/result/?request_id=${afterwards}&wait=20`;
      expect(statusOf(await call(balancer.url, "GET", question))).toBe(200);
      process.stderr.write(`engines killed: ${JSON.stringify(ends)}\n`);
      const verified = await gantryCommand(["ledger", "verify"], { DATABASE_URL: postgres.url });
      expect([verified.code, verified.stdout]).toEqual([0, expect.stringMatching(/^The ledger is correct: /)]);
      expect(here.cluster.nodes.flatMap((node) => node.crashes)).toEqual([]);
    },
    240_000,
  );
});
