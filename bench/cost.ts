/**
 * What one operation costs: CPU of the server, of PostgreSQL and of RabbitMQ, statements, commits, rows and bytes. Counted
 * by the kernel and by PostgreSQL with 1, 16 and 256 connections of up to 64 users, minus what an idle server does in the
 * same time. The upstreams answer at once.
 *
 *     node bench/cost.ts [least seconds per measurement] [--write]
 */
import { randomBytes } from "node:crypto";
import { cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { readConfig } from "../apps/server/src/config/config.ts";
import type { Database } from "../apps/server/src/engines/database/index.ts";
import { startOwnPostgres } from "../apps/server/test/support/own-postgres.ts";
import { rabbitMq, startRabbitMqNode } from "../apps/server/test/support/rabbitmq-node.ts";
import { obtain } from "../apps/server/test/support/system-packages.ts";
import { type Counted, type TableCounts, watch, withoutIdle } from "./support/cost-counters.ts";
import { type Caller, operationsOf, prepare } from "./support/cost-operations.ts";
import { serveGantry } from "./support/gantry.ts";
import { serve } from "./support/processes.ts";
import { residentMegabytes } from "./support/resident.ts";
import { showFigures } from "./support/write-figures.ts";

const seconds = Number(process.argv.slice(2).find((given) => !given.startsWith("--")) ?? 5);
const page = "operate/scale.md";
const users = 64;
const levels = [1, 16, 256];
/** The level whose rows are shown by table. */
const shownLevel = 16;
const warmUpSeconds = 3;
const idleSeconds = 20;
/** Of a table whose size is shown. */
const leastRows = 200;
const wokenByBroker = /^(queued|agent)/;

interface Cost extends Omit<Counted, "seconds"> {
  operation: string;
  connections: number;
  perSecond: number;
}

const postgres = await startOwnPostgres({ shared_preload_libraries: "pg_stat_statements" });
const [instant, tokens, agent] = await Promise.all(
  ["instant", "token", "agent"].map((name) => serve(new URL(`./support/${name}-upstream.ts`, import.meta.url))),
);
if (!instant || !tokens || !agent) throw new Error("an upstream did not start");
const upstreams = { instant, tokens, agent };
const settings = {
  DATABASE_URL: postgres.url,
  GANTRY_SECRET_KEY: randomBytes(32).toString("base64"),
};
let callers: Caller[] = [];

/** Divides all counts by the number of operations. */
function perOperation(counted: Counted, times: number): Omit<Counted, "seconds"> {
  const share = <Counts extends object>(counts: Counts) =>
    Object.fromEntries(Object.entries(counts).map(([key, value]) => [key, value / times])) as Counts;
  const { tables, cpu, seconds: _, ...totals } = counted;
  return {
    ...share(totals),
    cpu: share(cpu),
    tables: new Map([...tables].map(([name, counts]) => [name, share(counts)])),
  };
}

interface Measured {
  costs: Cost[];
  sizes: Map<string, number>;
  /** Of the server after all of it. */
  megabytes: number;
  version: string;
}

/** Starts a server, measures all its operations, or only those that RabbitMQ wakes, and stops it. */
async function measure(broker?: { url: string; pid: number }): Promise<Measured> {
  const gantry = await serveGantry({ ...settings, ...(broker && { AMQP_URL: broker.url }) });
  const costs: Cost[] = [];
  try {
    if (callers.length === 0) callers = await prepare(gantry, upstreams, users);
    const watched = await watch(postgres.url, gantry.pid, broker?.pid);
    const all = operationsOf(gantry, upstreams, callers, watched.database);
    const operations = broker ? all.filter(({ name }) => wokenByBroker.test(name)) : all;
    await fetch(`http://127.0.0.1:${tokens?.port}/pace?ms=0`);
    // Counted, so that its last reports do not end up in the idle time.
    await watched.count(async () => {
      for (const { run } of operations) await run(shownLevel, warmUpSeconds);
    });
    const idle = await watched.count(() => sleep(idleSeconds * 1000));
    for (const { name, least, run } of operations) {
      for (const connections of levels) {
        let [times, took] = [0, 0];
        const counted = await watched.count(async () => {
          const startedAt = performance.now();
          while (times < least) times += await run(connections, seconds);
          took = (performance.now() - startedAt) / 1000;
        });
        const operation = broker ? `${name}, RabbitMQ` : name;
        const cost = perOperation(withoutIdle(counted, idle), times);
        costs.push({ operation, connections, perSecond: times / took, ...cost });
        console.log(`${operation}, ${connections} connections: ${times} in ${took.toFixed(1)} s`);
      }
    }
    const sizes = await bytesARow(watched.database);
    const [shown] = await watched.database.sql<{ server_version: string }[]>`show server_version`;
    await watched.close();
    return { costs, sizes, megabytes: residentMegabytes(gantry.pid), version: shown?.server_version ?? "" };
  } finally {
    await gantry.stop();
  }
}

/** Of every table with enough rows to tell, with its indexes. */
async function bytesARow({ sql }: Database): Promise<Map<string, number>> {
  const tables = await sql<{ name: string; bytes: number }[]>`
    select coalesce(pg_partition_root(relid), relid)::regclass::text as name,
      sum(pg_total_relation_size(relid))::float8 as bytes
    from pg_stat_user_tables group by 1 having sum(n_tup_ins) > ${leastRows} order by 1`;
  const sizes = new Map<string, number>();
  for (const { name, bytes } of tables) {
    const [row] = await sql.unsafe<{ rows: number }[]>(`select count(*)::int as rows from ${name}`);
    if (row && row.rows >= leastRows) sizes.set(name, bytes / row.rows);
  }
  return sizes;
}

const rounded = (value: number): string => {
  if (value < 0.005) return "0";
  return value.toLocaleString("en", value >= 100 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 2 });
};
const milliseconds = (cpu: number) => rounded(cpu * 1000);
const sum = (tables: Map<string, TableCounts>, kind: keyof TableCounts) =>
  [...tables.values()].reduce((all, counts) => all + counts[kind], 0);
const table = (head: string[], rows: string[][]) =>
  [head, head.map((_, n) => (n === 0 ? "---" : "--:")), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
const machine = ({ version, megabytes }: Pick<Measured, "version" | "megabytes">) =>
  `Measured on ${cpus().length} × ${cpus()[0]?.model.trim()} with PostgreSQL ${version} and Node ` +
  `${process.version.slice(1)}, ${seconds} seconds or more for each line. Afterwards the server had ${megabytes.toFixed(0)} MB of memory.`;

function showCosts(costs: readonly Cost[], about: Parameters<typeof machine>[0]): void {
  const rows = costs.map(({ operation, connections, cpu, tables, ...of }) => [
    operation,
    String(connections),
    milliseconds(cpu.server),
    milliseconds(cpu.sessions),
    milliseconds(cpu.background),
    ...(costs.some((one) => one.cpu.broker > 0) ? [milliseconds(cpu.broker)] : []),
    rounded(of.statements),
    rounded(of.commits),
    rounded(of.syncs),
    ...(["inserted", "updated", "deleted"] as const).map((kind) => rounded(sum(tables, kind))),
    rounded(of.walBytes / 1000),
    rounded(of.perSecond),
  ]);
  const broker = costs.some(({ cpu }) => cpu.broker > 0) ? ["RabbitMQ ms"] : [];
  const head = [
    ...["operation", "connections", "server ms", "PostgreSQL ms", "its background ms", ...broker],
    ...["statements", "commits", "WAL syncs", "rows inserted", "updated", "deleted", "WAL kB", "a second here"],
  ];
  showFigures(page, "cost", `${machine(about)}\n\n${table(head, rows)}`);
}

/** `+` inserted, `~` updated, `−` deleted. */
function showRows(costs: readonly Cost[]): void {
  const rows = costs
    .filter(({ connections }) => connections === shownLevel)
    .map(({ operation, tables }) => {
      const parts = [...tables].flatMap(([name, { inserted, updated, deleted }]) => {
        const counts = [
          ...(inserted >= 0.1 ? [`+${rounded(inserted)}`] : []),
          ...(updated >= 0.1 ? [`~${rounded(updated)}`] : []),
          ...(deleted >= 0.1 ? [`−${rounded(deleted)}`] : []),
        ];
        return counts.length > 0 ? [`\`${name}\` ${counts.join(" ")}`] : [];
      });
      return [operation, parts.sort().join(", ") || "none"];
    });
  showFigures(page, "rows", table(["operation", "rows"], rows).replace("--:", "---"));
}

function showSizes(sizes: ReadonlyMap<string, number>, written: ReadonlySet<string>): void {
  const rows = [...sizes].filter(([name]) => written.has(name)).map(([name, bytes]) => [`\`${name}\``, rounded(bytes)]);
  showFigures(page, "bytes", table(["table", "bytes a row, with indexes"], rows));
}

const secondsADay = 86_400;

function showCapacity(costs: readonly Cost[], sizes: ReadonlyMap<string, number>): void {
  const { GANTRY_RESULT_DAYS, GANTRY_USAGE_DAYS } = readConfig({}, ".");
  const byOperation = Map.groupBy(costs, ({ operation }) => operation);
  const rows = [...byOperation].map(([operation, found]) => {
    const at = (connections: number) => found.find((one) => one.connections === connections);
    const core = (cost: Cost | undefined, of: (cpu: Cost["cpu"]) => number) => (cost ? rounded(1 / of(cost.cpu)) : "");
    const growth = [...(at(shownLevel)?.tables ?? [])].map(([name, { inserted, deleted }]) => ({
      bytes: (inserted - deleted) * (sizes.get(name) ?? 0),
      days: name === "usage" ? GANTRY_USAGE_DAYS : GANTRY_RESULT_DAYS,
    }));
    const grown = growth.reduce((all, { bytes }) => all + bytes, 0);
    const kept = growth.reduce((all, { bytes, days }) => all + bytes * days * secondsADay, 0);
    const postgresCpu = (cpu: Cost["cpu"]) => cpu.sessions + cpu.background;
    return [
      operation,
      ...[shownLevel, 256].map((level) => core(at(level), (cpu) => cpu.server)),
      ...[shownLevel, 256].map((level) => core(at(level), postgresCpu)),
      rounded((at(shownLevel)?.walBytes ?? 0) / 1000),
      rounded(grown / 1000),
      rounded(kept / 1e9),
    ];
  });
  const head = [
    ...["operation", "a core of the server, 16 connections", "256", "a core of PostgreSQL, 16 connections", "256"],
    ...["WAL GB a million", "growth GB a million", "GB kept, at 1 a second"],
  ];
  showFigures(page, "capacity", table(head, rows));
}

try {
  const { costs, sizes, ...about } = await measure();
  const missing = await obtain(rabbitMq);
  if (missing) console.log(`SKIPPED: wake-ups by RabbitMQ. ${missing}`);
  else {
    const node = await startRabbitMqNode(1);
    try {
      costs.push(...(await measure({ url: node.url(0), pid: node.pid() })).costs);
    } finally {
      await node.stop();
    }
  }
  const written = new Set(
    costs.flatMap(({ tables }) =>
      [...tables].flatMap(([name, { inserted, deleted }]) => (inserted - deleted > 0.01 ? [name] : [])),
    ),
  );
  showCosts(costs, about);
  showRows(costs);
  showSizes(sizes, written);
  showCapacity(costs, sizes);
} finally {
  await Promise.all([instant.stop(), tokens.stop(), agent.stop()]);
  await postgres.stop();
}
