/**
 * The storms of the proofs with many rounds and random seeds, until the time is over: `npm run soak -- --storms [minutes]
 * [seed]`.
 */
import { ownSchema } from "../../apps/server/src/compose/own-schema.ts";
import { connect, migrate } from "../../apps/server/src/engines/database/index.ts";
import { type Engine, runCrashStorm } from "../../apps/server/test/proof/crash-storm.ts";
import { runMoneyStorm } from "../../apps/server/test/proof/money-storm.ts";
import { createRandom } from "../../apps/server/test/proof/random.ts";
import type { Breakpoint } from "../../apps/server/test/proof/runs-breakpoints.ts";
import { nameOf, startWalk, walkAll } from "../../apps/server/test/proof/runs-crash-points.ts";
import { startOwnPostgres } from "../../apps/server/test/support/own-postgres.ts";
import { type RabbitMqNode, rabbitMq, startRabbitMqNode } from "../../apps/server/test/support/rabbitmq-node.ts";
import { obtain } from "../../apps/server/test/support/system-packages.ts";

const minutes = Number(process.argv[2] ?? 10);
const seed = Number(process.argv[3] ?? Math.floor(Math.random() * 2 ** 31));
if (!(minutes > 0) || !Number.isSafeInteger(seed)) throw new Error("npm run soak -- --storms [minutes] [seed]");

const atOnce = 8;
const until = Date.now() + minutes * 60_000;
const random = createRandom(seed);
console.log(`storms for ${minutes} minutes, seed ${seed} (again: npm run soak -- --storms ${minutes} ${seed})`);
let faults = 0;
for (let round = 1; faults === 0 && (round === 1 || Date.now() < until); round++) {
  for (const [name, storm] of Object.entries({ money: moneyStorms, crash: crashStorms, runs: runStorms })) {
    const own = random.between(1, 2 ** 31 - 1);
    console.log(`\n${name}, round ${round}, seed of the round ${own}`);
    const found = await storm(own, (line) => console.log(`  ${line}`));
    for (const fault of found) console.log(`  FAULT: ${fault}`);
    faults += found.length;
  }
}
console.log(faults === 0 ? "\nno faults" : `\n${faults} faults, seed ${seed}`);
process.exit(faults === 0 ? 0 : 1);

/** Many rounds of 500 parallel paid calls with kills, on a PostgreSQL that writes to disk. */
async function moneyStorms(seed: number, say: (line: string) => void): Promise<string[]> {
  const postgres = await startOwnPostgres();
  try {
    const report = await runMoneyStorm({
      databaseUrl: postgres.url,
      seed,
      calls: 500,
      rounds: 6,
      killsARound: 3,
      say,
    });
    say(`${report.kills} kills, ${report.seconds.toFixed(0)} s, answers to clients: ${JSON.stringify(report.told)}`);
    say(`the hostile marketplace: ${JSON.stringify(report.market)}`);
    return report.faults;
  } finally {
    await postgres.stop();
  }
}

/** A thousand jobs with webhooks, woken by PostgreSQL and, if it is installed, by RabbitMQ. */
async function crashStorms(seed: number, say: (line: string) => void): Promise<string[]> {
  const trouble = await obtain(rabbitMq);
  if (trouble) say(`without RabbitMQ: ${trouble}`);
  const faults = await once(seed, undefined, say);
  if (trouble || faults.length > 0) return faults;
  const rabbit = await startRabbitMqNode(1);
  try {
    return await once(seed, rabbit, say);
  } finally {
    await rabbit.stop();
  }
}

async function once(seed: number, rabbit: RabbitMqNode | undefined, say: (line: string) => void): Promise<string[]> {
  const postgres = await startOwnPostgres();
  const brokers: Engine[] = rabbit ? [{ name: "rabbitmq", kill: rabbit.kill, start: rabbit.start }] : [];
  try {
    const report = await runCrashStorm({
      database: { url: postgres.url, engine: { name: "postgresql", kill: postgres.kill, start: postgres.start } },
      seed,
      jobs: 1000,
      brokers,
      env: rabbit ? { AMQP_URL: rabbit.url(0) } : {},
      say,
    });
    say(
      `woken by ${rabbit ? "RabbitMQ" : "PostgreSQL"}: ${report.seconds.toFixed(0)} s, ${report.recovered} jobs of the ` +
        `dead worker ran again, the slowest after ${report.slowestRecovery.toFixed(1)} s`,
    );
    return report.faults;
  } finally {
    await postgres.stop();
  }
}

/** Before creation there is nothing for another server to finish. */
function isAfterCreation({ kind, k }: Breakpoint): boolean {
  return k > 1 || kind === "claim" || kind === "write";
}

/** Kills the server of a run before and after every write. Then pauses it at every write until another ends the run. */
async function runStorms(_seed: number, say: (line: string) => void): Promise<string[]> {
  const postgres = await startOwnPostgres();
  try {
    const database = connect({ url: postgres.url, poolSize: 1 });
    await migrate(database, ownSchema).finally(() => database.close());
    const server = postgres.url.slice(0, postgres.url.lastIndexOf("/"));
    const walk = await startWalk(server, postgres.url.slice(server.length + 1));
    try {
      const { breakpoints } = walk;
      say(`${breakpoints.length} points at which a run is killed, before and after each write`);
      const reports = await walkAll(walk.kill, breakpoints, atOnce, ({ at, faults }) => {
        for (const fault of faults) say(`${nameOf(at)}: ${fault}`);
      });
      const times = reports.flatMap(({ takenOverMs }) => takenOverMs ?? []).sort((a, b) => a - b);
      const at = (part: number) => ((times[Math.floor(part * (times.length - 1))] ?? 0) / 1000).toFixed(1);
      say(`${times.length} runs were taken over after ${at(0)} to ${at(1)} s, half of them within ${at(0.5)} s`);
      const slept = await walkAll(walk.sleep, breakpoints.filter(isAfterCreation), atOnce, ({ at: point, faults }) => {
        for (const fault of faults) say(`asleep ${nameOf(point)}: ${fault}`);
      });
      say(`${slept.length} servers slept past their death and woke up late`);
      return [...reports, ...slept].flatMap(({ at: point, faults }) =>
        faults.map((fault) => `${nameOf(point)}: ${fault}`),
      );
    } finally {
      await walk.close();
    }
  } finally {
    await postgres.stop();
  }
}
