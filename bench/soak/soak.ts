/** See scripts/soak.mjs. */
import { setTimeout as sleep } from "node:timers/promises";
import { watchWallets } from "../../apps/server/test/proof/money-storm.ts";
import { serve } from "../support/processes.ts";
import { countAgedRows, insertAgedRows } from "./aged-rows.ts";
import { audit, readFirstDue } from "./audit.ts";
import { faultKinds, injectFaults, lastRestart, planFaults } from "./faults.ts";
import { type Installation, install } from "./installation.ts";
import { type Journal, openJournal } from "./journal.ts";
import { callsOfBuyer, type Load, rate, startLoad } from "./load.ts";
import { clearStage, type Stage, setStage } from "./stage.ts";
import {
  coresOf,
  type Judged,
  judgeBloat,
  judgeDrift,
  judgeGrowth,
  lastLifeOf,
  outcomesOf,
  type TableSize,
  tableOf,
} from "./verdict.ts";
import { type Sample, startWatch, takeSample } from "./watch.ts";

const minutes = Number(process.argv[2] ?? 60);
const seed = Number(process.argv[3] ?? Math.floor(Math.random() * 2 ** 31));
if (!(minutes >= 2) || !Number.isSafeInteger(seed)) {
  console.error("Usage: npm run soak -- [minutes, at least 2] [seed], or npm run soak -- --storms [minutes] [seed]");
  process.exit(2);
}

const seconds = minutes * 60;
const buyers = 8;
const controlEveryMs = 250;
/** A control call of this length means that the machine stood still for the installation too. */
const stallMs = 3_000;
const agedEveryMs = 30_000;
/** Longer than idle connections are kept. */
const restMs = 80_000;
/**
 * Above those of a new server: open connections of clients and of pools, and threads that start with their first job. Those
 * of the processes for pictures and documents end after five idle minutes.
 */
const atRest = { "server descriptors": 60, "server sockets": 60, "server threads": 30 };
/** Of the event loop of a thread. */
const descriptorsOfThread = 5;

let isOver = false;
const journal: Journal = openJournal((kind, example) => say(`FAULT ${kind}: ${example.slice(0, 600)}`));
const since = () => `${Math.floor((Date.now() - journal.startedAt) / 60_000)} min`;
const say = (line: string) => console.log(`${since().padStart(6)}  ${line}`);
process.once("SIGINT", () => {
  console.log("Interrupted: ending early, with a verdict.");
  isOver = true;
});

console.log(`Soak for ${minutes} minutes, seed ${seed}. Again: npm run soak -- ${minutes} ${seed}`);
// Rows age in days only (aged-rows.ts).
const installation = await install({ GANTRY_RESULT_DAYS: "1", GANTRY_DELIVERY_DAYS: "1", GANTRY_LOG_LEVEL: "warn" });
await installation.start();
const stage = await setStage(installation, journal, callsOfBuyer(seconds, buyers));
const isPassed = await soak(stage).finally(async () => {
  await installation.close();
  await clearStage(stage);
});
process.exit(isPassed ? 0 : 1);

async function soak(of: Stage): Promise<boolean> {
  const idle = await takeSample(of);
  const firstDue = await readFirstDue(of);
  const faults = planFaults(seconds, seed);
  console.log(`Faults: ${faults.map(({ atSeconds, kind }) => `${kind} at ${atSeconds} s`).join("; ")}`);
  const control = await serve(new URL("./control.process.ts", import.meta.url), {});
  const wallets = watchWallets(installation.database, 500);
  const watch = startWatch(of);
  const load = startLoad(of, seed);
  const until = journal.startedAt + seconds * 1000;
  let bloatBefore: TableSize[] = [];
  let aged = 0;
  const beside = [
    injectFaults(of, faults, seed, say, () => isOver),
    repeat(controlEveryMs, () => timeControl(control.port)),
    repeat(60_000, async () => say(lineOf(journal, load, watch.samples)), 60_000),
    repeat(agedEveryMs, async () => {
      if (Date.now() - journal.startedAt < lastRestart(faults) * 1000)
        aged += await insertAgedRows(installation.database).catch(() => 0);
      else if (bloatBefore.length === 0) bloatBefore = await readSizes(installation).catch(() => []);
    }),
  ].map((work) =>
    work.catch((error: Error) => {
      journal.fault("the soak could not go on", String(error.stack));
      isOver = true;
    }),
  );
  while (Date.now() < until && !isOver) await sleep(200);
  const ended = Date.now();
  await load.stop();
  isOver = true;
  await Promise.all(beside);
  await watch.stop();
  await control.stop();
  const lowest = await wallets.stop();
  // On a machine that is too slow for the rate, budgets outlast the calls.
  const isFull = load.started > 0.8 * seconds * rate;
  await audit(isFull ? of : withoutMeets(of), { firstDue, lowest, say });
  await restsAsBefore(of, idle);
  const bloat = judgeBloat(bloatBefore, await readSizes(installation));
  const growth = [...judgeGrowth(watch.samples, journal.timings), ...bloat];
  // In a short soak the first third has more faults than calls without one.
  const driftFrom = minutes < 15 ? (lastLifeOf(watch.samples)[0]?.at ?? 0) : journal.startedAt;
  const drift = judgeDrift(journal.timings, driftFrom + 30_000, ended);
  const left = await countAgedRows(installation.database);
  console.log(`\n${outcomesOf(journal)}\n\n${tableOf("growth", growth)}\n\n${tableOf("latency, median", drift)}\n`);
  const kinds = new Set(journal.disturbances.map(({ kind }) => kind));
  console.log(
    `${load.started} operations at ${rate} a second, ${journal.disturbances.length} faults of ${kinds.size} of ` +
      `${faultKinds.length} kinds, ${installation.life} starts, ${aged - left} of ${aged} aged rows deleted, ` +
      `cores used: ${coresOf(watch.samples)}`,
  );
  return decide([...growth, ...drift]);
}

function withoutMeets(of: Stage): Stage {
  return { ...of, buyers: of.buyers.map(({ meets: _, ...buyer }) => buyer) };
}

function decide(judged: readonly Judged[]): boolean {
  for (const { what, first, last, isWithin } of judged) {
    if (!isWithin) journal.fault("growth", `${what}: from ${first.toFixed(1)} to ${last.toFixed(1)}`);
  }
  for (const [kind, { count, examples }] of journal.faults) {
    console.log(`FAULT ${kind} (${count})`);
    for (const example of examples) console.log(`  ${example}`);
  }
  const isRight = journal.faults.size === 0;
  console.log(isRight ? "\nPASS" : `\nFAIL: ${[...journal.faults.keys()].join("; ")}. Seed ${seed}`);
  return isRight;
}

/** Until the soak is over. */
async function repeat(everyMs: number, work: () => Promise<void>, firstAfterMs = 0): Promise<void> {
  for (let next = Date.now() + firstAfterMs; !isOver; next = Math.max(Date.now(), next + everyMs)) {
    while (Date.now() < next && !isOver) await sleep(Math.min(100, Math.max(1, next - Date.now())));
    if (!isOver) await work();
  }
}

async function timeControl(port: number): Promise<void> {
  const from = Date.now();
  const started = performance.now();
  // The connection is lost if the machine stalls for longer than it is kept.
  const isAnswered = await fetch(`http://127.0.0.1:${port}/`)
    .then((response) => response.text())
    .then(
      () => true,
      () => false,
    );
  const ms = performance.now() - started;
  if (isAnswered) journal.time("control", from, ms);
  if (!isAnswered || ms > stallMs) journal.stalled(from, Date.now());
}

function lineOf({ faults, timings, disturbances }: Journal, load: Load, samples: readonly Sample[]): string {
  const minuteAgo = Date.now() - 60_000;
  const recent = timings.filter(({ at }) => at > minuteAgo);
  const quantile = (operation: RegExp, part: number) => {
    const all = recent.filter((one) => operation.test(one.operation)).map(({ ms }) => ms);
    return all.length === 0 ? "–" : (all.sort((a, b) => a - b)[Math.floor(part * (all.length - 1))] ?? 0).toFixed(0);
  };
  const both = (name: string, operation: RegExp) =>
    `${name} ${quantile(operation, 0.5)}/${quantile(operation, 0.95)} ms`;
  const figure = (name: string) => samples.at(-1)?.figures[name]?.toFixed(0) ?? "–";
  const count = [...faults.values()].reduce((sum, one) => sum + one.count, 0);
  const lately = disturbances.filter(({ from }) => from > minuteAgo).length;
  return [
    `${load.started} operations`,
    `${count} faults found`,
    `${lately} injected`,
    both("buy", /^buy/),
    both("run", /^run /),
    both("list", /^list/),
    both("control", /^control$/),
    `server ${figure("server memory (MB)")} MB, heap ${figure("JavaScript heap (MB)")} MB`,
    `PostgreSQL ${figure("PostgreSQL memory (MB)")} MB`,
    `${figure("server descriptors")} descriptors`,
    `loop ${figure("event loop delay p99 (ms)")} ms`,
  ].join(", ");
}

/** Once all work has ended, connections, threads and temporary files are gone too. */
async function restsAsBefore(of: Stage, idle: Sample | undefined): Promise<void> {
  await sleep(restMs);
  const now = await takeSample(of);
  if (!idle || !now) return;
  const threads = (now.figures["server threads"] ?? 0) - (idle.figures["server threads"] ?? 0);
  const ofThreads = descriptorsOfThread * Math.max(0, threads);
  for (const [name, more] of Object.entries(atRest)) {
    const [before = 0, after = 0] = [idle.figures[name], now.figures[name]];
    if (after > before + more + (name === "server descriptors" ? ofThreads : 0))
      journal.fault("at rest", `${name}: ${after}, at the start ${before}`);
  }
  const spool = now.figures["files in spool"] ?? 0;
  if (spool > 0) journal.fault("at rest", `${spool} files are left in the spool`);
}

async function readSizes({ database: { sql } }: Installation): Promise<TableSize[]> {
  const names = await sql<{ name: string; megabytes: number }[]>`
    select relname as name, pg_total_relation_size(relid)::float8 / 1e6 as megabytes from pg_stat_user_tables`;
  const sizes: TableSize[] = [];
  for (const { name, megabytes } of names) {
    const [row] = await sql.unsafe<[{ n: number }]>(`select count(*)::int as n from "${name}"`);
    sizes.push({ name, megabytes, rows: row.n });
  }
  return sizes;
}
