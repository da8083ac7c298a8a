import { setTimeout as sleep } from "node:timers/promises";
import { connect, type Database } from "../../src/engines/database/index.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { auditMoney } from "./audit-money.ts";
import { newUser, putModel, textModel } from "./client.ts";
import { type HostileMarket, type MarketCounts, openHostileMarket } from "./hostile-market.ts";
import { carryOut, type Observation, planCall, stormModels } from "./paid-calls.ts";
import { createRandom, type Random } from "./random.ts";
import { startUpstreams, type Upstreams } from "./upstreams.ts";

export interface StormUser {
  name: string;
  /** In dollars. */
  credit: number;
  plan: string;
  /** Of its key, in dollars per month. */
  monthlyLimit?: number;
  /** Some of its calls must have been refused with this status. */
  meets?: 403 | 429;
}

/** Approximate average cost of a call. */
const usualPrice = 0.012;

/** Ten users; `callsOfEach` determines which budgets cover only a part. */
function usersOf(callsOfEach: number): StormUser[] {
  const whole = callsOfEach * usualPrice;
  const inMillionths = (dollars: number) => Math.round(dollars * 1e6) / 1e6;
  const part = (share: number) => Math.max(0.02, inMillionths(whole * share));
  const unlimited = "unlimited";
  return [
    { name: "rich-1", credit: part(20), plan: unlimited },
    { name: "rich-2", credit: part(20), plan: unlimited },
    { name: "half", credit: part(0.5), plan: unlimited, meets: 403 },
    { name: "third", credit: part(0.33), plan: unlimited, meets: 403 },
    { name: "tenth", credit: part(0.1), plan: unlimited, meets: 403 },
    { name: "odd", credit: inMillionths(part(0.1) + 0.000001), plan: unlimited, meets: 403 },
    { name: "penniless", credit: 0, plan: unlimited, meets: 403 },
    { name: "pro", credit: part(0.5), plan: "pro" },
    { name: "free", credit: part(20), plan: "free", meets: 429 },
    { name: "capped", credit: part(20), plan: unlimited, monthlyLimit: part(0.4), meets: 403 },
  ];
}

export interface StormReport {
  faults: string[];
  told: Record<string, number>;
  market: MarketCounts;
  kills: number;
  seconds: number;
}

/**
 * Three server processes on one PostgreSQL, ten users whose budgets cover a part of their calls, processes killed
 * at random, clients that disconnect at random, failing upstreams and a hostile marketplace. Afterwards all
 * accounts are checked.
 * An empty list of faults is the proof.
 */
export async function runMoneyStorm(options: {
  databaseUrl: string;
  seed: number;
  /** Calls of a round run concurrently. */
  calls: number;
  rounds: number;
  /** Number of kills and restarts per round. */
  killsARound: number;
  env?: Record<string, string>;
  say?: (line: string) => void;
}): Promise<StormReport> {
  const { databaseUrl, seed, calls, rounds, killsARound, env = {}, say = () => {} } = options;
  const startedAt = performance.now();
  const random = createRandom(seed);
  const upstreams = await startUpstreams();
  const nodes = { one: {}, two: {}, three: {} };
  const cluster = await startCluster({ databaseUrl, nodes, env });
  const database = connect({ url: databaseUrl, poolSize: 4 });
  let market: HostileMarket | undefined;
  try {
    // In later rounds a part of the calls exhausts the remaining budget.
    const users = usersOf((calls * (1 + (rounds - 1) / 3)) / 10);
    const keys = await prepare(cluster, upstreams, users);
    market = await openHostileMarket(cluster, database);
    const lowest = watchWallets(database);
    const trading = market.storm(createRandom(seed + 1));
    const seen: Observation[] = [];
    for (let round = 1; round <= rounds; round++) {
      const plans = Array.from({ length: calls }, (_, n) =>
        planCall(random, (users[n % users.length] as StormUser).name, `${round}-${n}`, 1000),
      );
      const storm = Promise.all(plans.map((plan) => carryOut(cluster, random, keys, plan)));
      await killSome(cluster, random, killsARound, say);
      seen.push(...(await storm).flat());
      say(`round ${round} of ${rounds}: ${JSON.stringify(countTold(seen))}`);
    }
    await trading.stop();
    await untilRunsEnd(database);
    const asked = await untilQuiet(database);
    say(`quiet after ${asked.toFixed(1)} s`);
    const lowestAvailable = await lowest.stop();
    const faults = await auditMoney({
      database,
      cluster,
      upstreams,
      users,
      keys,
      seen,
      lowestAvailable,
    });
    const { faults: ofMarket, counts } = await market.audit(lowestAvailable);
    faults.push(...ofMarket);
    faults.push(...cluster.nodes.flatMap((node) => node.crashes));
    return {
      faults,
      told: countTold(seen),
      market: counts,
      kills: killsARound * rounds,
      seconds: (performance.now() - startedAt) / 1000,
    };
  } catch (error) {
    for (const node of cluster.nodes) say(`${node.name} wrote:\n${node.output().slice(-5000)}`);
    throw error;
  } finally {
    await cluster.close();
    await database.close();
    await upstreams.close();
    await market?.close();
  }
}

async function prepare(
  cluster: Cluster,
  upstreams: Upstreams,
  users: readonly StormUser[],
): Promise<Map<string, string>> {
  const [{ url }] = cluster.nodes as [Cluster["nodes"][number]];
  const { quick, narrow, talk } = stormModels;
  await putModel(url, "quick", { ...quick, backend: { type: "cog", url: upstreams.cogUrl } });
  await putModel(url, "narrow", { ...narrow, backend: { type: "cog", url: upstreams.cogUrl } });
  const backend = { type: "openai-chat", url: upstreams.chatUrl, model: "test" };
  await putModel(url, "talk", { ...talk, ...textModel, backend });
  const keys = new Map<string, string>();
  for (const { name, credit, plan, monthlyLimit } of users) {
    const key = monthlyLimit === undefined ? {} : { monthly_limit: monthlyLimit };
    keys.set(name, await newUser(url, name, { plan, credit, key }));
  }
  return keys;
}

/** Kills one node after the other at random moments and restarts each at once. Two are always up. */
async function killSome(cluster: Cluster, random: Random, kills: number, say: (line: string) => void): Promise<void> {
  for (let n = 0; n < kills; n++) {
    await sleep(random.between(300, 1500));
    const victim = random.pick(cluster.nodes as [Cluster["nodes"][number], ...Cluster["nodes"]]);
    await victim.kill();
    say(`killed ${victim.name}`);
    await victim.start();
  }
}

function countTold(seen: readonly Observation[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { told, status } of seen) {
    const name = told === "refused" || told === "unavailable" ? `${told} ${status}` : told;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** The lowest available balance of each user, as sampled. */
export function watchWallets(database: Database, everyMs = 100): { stop(): Promise<Map<string, number>> } {
  const lowest = new Map<string, number>();
  let stopped = false;
  const watching = (async () => {
    while (!stopped) {
      // This process is busy with the clients: late samples are skipped.
      const rows = await database.sql<{ name: string; available: number }[]>`
        select u.username as name, w.balance_micros - w.reserved_micros as available
        from wallets w join users u on u.id = w.user_id`.catch(() => []);
      for (const { name, available } of rows) lowest.set(name, Math.min(available, lowest.get(name) ?? available));
      await sleep(everyMs);
    }
  })();
  return {
    async stop() {
      stopped = true;
      await watching;
      return lowest;
    },
  };
}

export async function untilRunsEnd(database: Database, longestMs = 90_000): Promise<void> {
  for (const until = Date.now() + longestMs; ; ) {
    const rows = await database.sql<{ id: string; status: string }[]>`
      select id, status from runs where status in ('pending', 'running') limit 5`.catch(() => undefined);
    if (rows?.length === 0) return;
    if (Date.now() > until) throw new Error(`runs are still live after ${longestMs} ms: ${JSON.stringify(rows)}`);
    await sleep(100);
  }
}

/** Resolves with the seconds until all work has ended; rejects after the limit. */
export async function untilQuiet(database: Database, longestMs = 90_000): Promise<number> {
  const startedAt = Date.now();
  for (;;) {
    const rows = await database.sql<{ id: string; route: string; holder: string | null; started: boolean }[]>`
      select id, route, holder, started_at is not null as started from live_predictions limit 5`.catch(() => undefined);
    if (rows?.length === 0) return (Date.now() - startedAt) / 1000;
    if (Date.now() - startedAt > longestMs)
      throw new Error(`predictions are still live after ${longestMs} ms: ${JSON.stringify(rows)}`);
    await sleep(100);
  }
}
