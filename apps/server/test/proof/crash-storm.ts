import { setTimeout as sleep } from "node:timers/promises";
import { Webhook } from "standardwebhooks";
import { connect, type Database } from "../../src/engines/database/index.ts";
import { verifyLedger } from "../../src/features/billing/index.ts";
import { priceOf } from "../../src/kernel/money.ts";
import { type Cluster, type ClusterNode, startCluster } from "../support/cluster.ts";
import { call, putModel, textModel } from "./client.ts";
import { untilQuiet } from "./money-storm.ts";
import { createRandom, type Random } from "./random.ts";
import { type Received, type Receiver, startReceiver } from "./receiver.ts";
import { promptOf, type Script, startUpstreams, type Upstreams } from "./upstreams.ts";

/** An engine that can be killed (-9) and restarted at the same address: PostgreSQL, RabbitMQ. */
export interface Engine {
  name: string;
  kill(): Promise<void>;
  start(): Promise<void>;
}

export interface CrashReport {
  faults: string[];
  /** Seconds from the death of a worker to the second start of its last job. */
  slowestRecovery: number;
  recovered: number;
  seconds: number;
}

interface Job {
  key: string;
  model: "make" | "say";
  script: Script;
  id: string;
}

const pricings = {
  make: { per_request: 0.001 },
  say: { per_million_input_tokens: 30, per_million_output_tokens: 200 },
};

/**
 * A dead worker's job must restart within 15 s. The limit grows on a machine so busy that processes start
 * slowly.
 */
export function recoveryBoundSeconds(cluster: Cluster): number {
  const slowest = Math.max(...cluster.nodes.map((node) => node.startSeconds));
  return 15 + Math.max(0, 2 * (slowest - 2));
}

/**
 * Jobs with webhooks through one API process and two workers. In the middle the API, PostgreSQL, a worker and every given
 * broker are killed and restarted. Then all accepted jobs have ended, each charged once and delivered under one
 * id, and the dead worker's jobs restarted in time.
 */
export async function runCrashStorm(options: {
  database: { url: string; engine: Engine };
  seed: number;
  jobs: number;
  /** Killed one after the other, each while it runs jobs. */
  brokers?: readonly Engine[];
  env?: Record<string, string>;
  say?: (line: string) => void;
}): Promise<CrashReport> {
  const { database, seed, brokers = [], env = {}, say = () => {} } = options;
  const databaseUrl = database.url;
  const startedAt = performance.now();
  const random = createRandom(seed);
  const upstreams = await startUpstreams();
  // One in twenty receivers fails its first delivery.
  const receiver = await startReceiver((times) => times === 1 && Math.random() < 0.05);
  const worker = { GANTRY_ROLE: "worker", GANTRY_WORKER_PARALLEL: "16" };
  const nodes = { api: { GANTRY_ROLE: "api" }, "worker-1": worker, "worker-2": worker };
  const cluster = await startCluster({ databaseUrl, env, nodes });
  const books = connect({ url: databaseUrl, poolSize: 2, deadlineMs: 30_000 });
  const since = () => `${((performance.now() - startedAt) / 1000).toFixed(1)} s:`;
  const restart = async (victim: Engine | ClusterNode) => {
    await victim.kill();
    say(`${since()} killed ${victim.name}`);
    await victim.start();
    say(`${since()} ${victim.name} is back`);
  };
  try {
    await prepare(cluster, upstreams);
    const callTimes = watchCalls(upstreams);
    const accept = (from: number, to: number) => acceptAll(cluster, random, receiver, { from, to });
    const [firstPart, all] = [Math.round(options.jobs * (brokers.length > 0 ? 0.7 : 1)), options.jobs];

    const accepting = accept(0, firstPart);
    await accepting.until(0.25);
    await restart(cluster.node("api"));
    await accepting.until(0.4);
    await restart(database.engine);
    const jobs = await accepting.done;
    say(`${since()} ${jobs.length} are accepted`);
    // Bounded: on a slow machine the first long jobs end before the last begin.
    for (const until = Date.now() + 10_000; upstreams.open < longOnes / 2 && Date.now() < until; ) await sleep(10);
    const killedAt = performance.now();
    const running = upstreams.open;
    await restart(cluster.node("worker-1"));
    say(`${since()} ${running} were running`);
    await untilQuiet(books, 180_000);
    say(`${since()} all have ended`);

    for (const [n, broker] of brokers.entries()) {
      const [from, to] = [n, n + 1].map((m) => firstPart + Math.round(((all - firstPart) * m) / brokers.length));
      const more = accept(from ?? 0, to ?? 0);
      await more.until(0.3);
      await restart(broker);
      jobs.push(...(await more.done));
      await untilQuiet(books, 180_000);
      say(`${since()} all have ended again`);
    }
    await untilDelivered(books, 120_000);
    say(`${since()} all webhooks are delivered`);
    // Running when the worker died, and restarted after it. Failing jobs are retried anyway.
    const recoveries = jobs
      .filter((job) => job.script.end === "ok")
      .map((job) => callTimes.get(job.id) ?? [])
      .filter(([first = 0, ...again]) => first < killedAt && (again.at(-1) ?? 0) > killedAt);
    const slowestRecovery = Math.max(0, ...recoveries.map((times) => ((times.at(-1) ?? 0) - killedAt) / 1000));
    const faults = await audit({ database: books, cluster, jobs, receiver, upstreams });
    faults.push(...cluster.nodes.flatMap((node) => node.crashes));
    if (slowestRecovery > recoveryBoundSeconds(cluster))
      faults.push(`a dead worker's job was taken up after ${slowestRecovery.toFixed(1)} s only`);
    const seconds = (performance.now() - startedAt) / 1000;
    return { faults, slowestRecovery, recovered: recoveries.length, seconds };
  } catch (error) {
    for (const node of cluster.nodes) say(`${node.name} wrote:\n${node.output().slice(-5000)}`);
    throw error;
  } finally {
    await cluster.close();
    await books.close();
    await upstreams.close();
    await receiver.close();
  }
}

async function prepare(cluster: Cluster, upstreams: Upstreams): Promise<void> {
  const { url } = cluster.node("api");
  const cog = { type: "cog", url: upstreams.cogUrl };
  await putModel(url, "make", { capacity: 12, pricing: pricings.make, backend: cog });
  const chat = { type: "openai-chat", url: upstreams.chatUrl, model: "test" };
  await putModel(url, "say", { capacity: 12, pricing: pricings.say, ...textModel, backend: chat });
  const credit = { amount: 1000, reason: "proof" };
  const answer = await call(url, "POST", "/api/v2/admin/users/admin/credits", { json: credit });
  if (answer.status !== 201) throw new Error(answer.text);
}

/** When each prediction reached an upstream. */
function watchCalls(upstreams: Upstreams): Map<string, number[]> {
  const times = new Map<string, number[]>();
  upstreams.onCall = (id) => times.set(id, [...(times.get(id) ?? []), performance.now()]);
  return times;
}

const clients = 16;
/** As many as may run at once. */
const longOnes = 24;

/** Clients that retry a lost answer with the same Idempotency-Key. */
function acceptAll(
  cluster: Cluster,
  random: Random,
  receiver: Receiver,
  { from, to }: { from: number; to: number },
): { until(share: number): Promise<void>; done: Promise<Job[]> } {
  const jobs: Job[] = [];
  let next = from;
  const webhook = JSON.stringify({ url: receiver.url });
  async function client(): Promise<void> {
    for (let n = next++; n < to; n = next++) {
      const model = random.pick(["make", "say"] as const);
      const script: Script = {
        end: n < to - longOnes && random.chance(0.1) ? "fail" : "ok",
        // The last jobs are long, so that a killed worker always loses work.
        ms: n < to - longOnes ? random.between(50, 400) : 8_000,
        words: 4,
        inputTokens: random.between(1, 50),
        outputTokens: random.between(1, 50),
        mark: `job-${n}`,
      };
      const job = { key: `job-${n}`, model, script };
      jobs.push({ ...job, id: await acceptOne(cluster, job, webhook) });
    }
  }
  return {
    async until(share) {
      while (jobs.length < share * (to - from)) await sleep(10);
    },
    done: Promise.all(Array.from({ length: clients }, client)).then(() => jobs),
  };
}

async function acceptOne(cluster: Cluster, job: Omit<Job, "id">, webhook: string): Promise<string> {
  for (;;) {
    const api = cluster.node("api");
    const answer = api.isUp
      ? await call(api.url, "POST", `/api/v1/admin/${job.model}/predict/async/`, {
          form: { prompt: promptOf(job.script), webhook },
          headers: { "idempotency-key": job.key },
        }).catch(() => undefined)
      : undefined;
    if (answer?.status === 200) return answer.body.prediction_id;
    if (answer && answer.status < 500) throw new Error(`a job was refused: ${answer.status} ${answer.text}`);
    await sleep(100);
  }
}

async function untilDelivered(database: Database, longestMs: number): Promise<void> {
  for (const until = Date.now() + longestMs; Date.now() < until; await sleep(100)) {
    const rows = await database.sql`select 1 from webhook_deliveries where status = 'pending' limit 1`;
    if (rows.length === 0) return;
  }
  throw new Error(`webhooks are still undelivered after ${longestMs} ms`);
}

interface EndedJob {
  id: string;
  status: number;
  charges: number;
  charged: number;
  deliveries: number;
  deliveryId: string | null;
  deliveryStatus: string | null;
}

async function audit(storm: {
  database: Database;
  cluster: Cluster;
  jobs: readonly Job[];
  receiver: Receiver;
  upstreams: Upstreams;
}): Promise<string[]> {
  const { database, cluster, jobs, receiver, upstreams } = storm;
  const faults = (await verifyLedger(database)).map(
    ({ rule, subject, expected, found }) => `the books: ${rule} of ${subject} is ${found} instead of ${expected}`,
  );
  const ended = await database.sql<EndedJob[]>`
    select e.id, e.status, count(u.price_micros)::int as charges, coalesce(sum(u.price_micros), 0)::bigint as charged,
      count(d.id)::int as deliveries, min(d.id) as "deliveryId", min(d.status) as "deliveryStatus"
    from ended_predictions e left join usage u on u.request_id = e.id and u.price_micros > 0
      left join webhook_deliveries d on d.prediction_id = e.id
    group by e.id`;
  const byId = new Map(ended.map((row) => [row.id, row]));
  if (ended.length !== jobs.length) faults.push(`${jobs.length} jobs were accepted, ${ended.length} have ended`);
  const secret = (await call(cluster.node("api").url, "GET", "/api/v2/webhooks/secret")).body.secrets[0];
  for (const job of jobs) {
    const row = byId.get(job.id);
    if (!row) faults.push(`job ${job.id} was accepted and is nowhere`);
    else {
      faults.push(...rightEnd(job, row, upstreams));
      faults.push(...rightDelivery(row, receiver.received.get(job.id), secret));
    }
  }
  const left = await database.sql<{ n: number }[]>`select count(*)::int as n from prediction_fragments`;
  if (left[0]?.n !== 0) faults.push(`${left[0]?.n} stream fragments are left`);
  return faults;
}

function rightEnd(job: Job, row: EndedJob, upstreams: Upstreams): string[] {
  const { inputTokens, outputTokens } = job.script;
  const tokens = job.model === "say" ? { inputTokens, outputTokens } : { inputTokens: 0, outputTokens: 0 };
  const price = priceOf(pricings[job.model], {
    requests: 1,
    seconds: 0,
    outputs: 1,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    ...tokens,
  });
  const [status, charged] = job.script.end === "ok" ? [200, price] : [502, 0];
  const what = `job ${job.id}`;
  if (row.status !== status) return [`${what} ended as ${row.status} instead of ${status}`];
  if (row.charged !== charged || row.charges !== (charged > 0 ? 1 : 0))
    return [`${what} has ${row.charges} charges of ${row.charged} instead of one of ${charged}`];
  if (status === 200 && (upstreams.seen.get(job.id)?.completed ?? 0) < 1) return [`${what} was made by no upstream`];
  return [];
}

function rightDelivery(row: EndedJob, received: Received | undefined, secret: string): string[] {
  const what = `the webhook of ${row.id}`;
  if (row.deliveries !== 1 || row.deliveryStatus !== "delivered")
    return [`${what}: ${row.deliveries} deliveries, ${row.deliveryStatus}`];
  if (!received) return [`${what} did not arrive`];
  if (received.ids.size !== 1 || !received.ids.has(row.deliveryId ?? ""))
    return [`${what} came as ${[...received.ids].join(", ")}, its id is ${row.deliveryId}`];
  const payload = new Webhook(secret).verify(received.body, received.headers) as { infer_details: { status: number } };
  if (payload.infer_details.status !== row.status)
    return [`${what} says ${payload.infer_details.status}, the books say ${row.status}`];
  return [];
}
