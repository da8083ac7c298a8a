import { median } from "../support/median.ts";
import type { Journal, Timing } from "./journal.ts";
import type { Sample } from "./watch.ts";

/** Allowed growth of a figure from the first to the last third of the judged time: by a factor, or by a difference. */
interface Bound {
  factor: number;
  plus: number;
}

const loopDelay = "event loop delay p99 (ms)";

/** Undefined: shown, but expected to grow. */
const bounds: Record<string, Bound | undefined> = {
  "server memory (MB)": { factor: 1.15, plus: 40 },
  "JavaScript heap (MB)": { factor: 1.2, plus: 30 },
  "server descriptors": { factor: 1.2, plus: 20 },
  "server sockets": { factor: 1.2, plus: 20 },
  "server threads": { factor: 1, plus: 3 },
  [loopDelay]: { factor: 1.5, plus: 20 },
  "PostgreSQL memory (MB)": { factor: 1.25, plus: 60 },
  "PostgreSQL processes": { factor: 1, plus: 5 },
  "WAL (MB)": { factor: 1, plus: 1100 },
  "files in spool": { factor: 1, plus: 10 },
  "stored files (MB)": undefined,
  "queued predictions": { factor: 1, plus: 20 },
  "pending webhooks": { factor: 1.5, plus: 20 },
};
/** A young process still compiles code, starts threads, opens the connections of its pool and fills caches. */
const young: Record<string, Bound> = {
  "server threads": { factor: 1, plus: 20 },
  "server memory (MB)": { factor: 1.5, plus: 120 },
  "JavaScript heap (MB)": { factor: 1.5, plus: 60 },
  "PostgreSQL memory (MB)": { factor: 2, plus: 200 },
  "PostgreSQL processes": { factor: 1, plus: 15 },
};
const youngMs = 15 * 60_000;

/** Tables whose rows end with the work: they must not grow with the time. */
const boundedTables = [
  ...["live_predictions", "prediction_fragments", "model_slots", "model_lines", "model_flow", "wallets", "key_months"],
  ...["run_webhook_events", "backend_slots", "backend_circuits", "nodes", "upload_totals"],
];
const tableBound: Bound = { factor: 2, plus: 4 };
const bloatFactor = 1.4;
const bloatFromMb = 8;

const driftBound: Bound = { factor: 1.5, plus: 20 };
const fewestTimings = 20;

export interface Judged {
  what: string;
  first: number;
  last: number;
  bound: string;
  isWithin: boolean;
}

const thirds = <T extends { at: number }>(all: readonly T[], from: number, to: number): [T[], T[]] => {
  const third = (to - from) / 3;
  return [
    all.filter(({ at }) => at >= from && at < from + third),
    all.filter(({ at }) => at >= to - third && at <= to),
  ];
};

function compare(what: string, first: number, last: number, bound: Bound | undefined): Judged {
  if (!bound) return { what, first, last, bound: "", isWithin: true };
  const isWithin = !(last > first * bound.factor && last > first + bound.plus);
  return { what, first, last, bound: `× ${bound.factor} or + ${bound.plus}`, isWithin };
}

/** Samples since the last start of a process. */
export function lastLifeOf(samples: readonly Sample[]): Sample[] {
  const life = samples.at(-1)?.life;
  return samples.filter((sample) => sample.life === life);
}

/** Cores used within the last life of the processes. */
export function coresOf(samples: readonly Sample[]): string {
  const own = lastLifeOf(samples);
  const [first, last] = [own[0], own.at(-1)];
  if (!first || !last) return "–";
  const of = (part: keyof Sample["cpu"]) => (last.cpu[part] - first.cpu[part]) / ((last.at - first.at) / 1000);
  return `server ${of("server").toFixed(2)}, PostgreSQL ${of("postgres").toFixed(2)}`;
}

/** How much longer slow control calls take in the last third, if the machine became busier. */
function busierBy(timings: readonly Timing[], from: number, to: number): number {
  const control = timings.filter(({ operation }) => operation === "control");
  const [early = 1, late = 1] = thirds(control, from, to).map((part) => {
    const sorted = part.map(({ ms }) => ms).sort((one, other) => one - other);
    return sorted[Math.floor(sorted.length * 0.95)];
  });
  return Math.max(1, late / early);
}

/** Growth within the last life of the processes, without its first quarter. */
export function judgeGrowth(samples: readonly Sample[], timings: readonly Timing[]): Judged[] {
  const own = lastLifeOf(samples);
  const end = own.at(-1)?.at ?? 0;
  const begin = own[0]?.at ?? 0;
  const from = begin + (end - begin) / 4;
  const [first, last] = thirds(own, from, end);
  const isYoung = end - begin < youngMs;
  const judged: Judged[] = [];
  for (const [name, bound] of Object.entries(bounds)) {
    const of = (some: Sample[]) => median(some.map(({ figures }) => figures[name] ?? Number.NaN));
    const correction = name === loopDelay ? busierBy(timings, from, end) : 1;
    judged.push(compare(name, of(first), of(last) / correction, (isYoung ? young[name] : undefined) ?? bound));
  }
  for (const name of boundedTables) {
    const of = (some: Sample[]) => Math.max(0, ...some.map(({ tables }) => (tables.get(name)?.bytes ?? 0) / 1e6));
    const one = compare(`table ${name} (MB)`, of(first), of(last), tableBound);
    if (!one.isWithin || one.last >= 1) judged.push(one);
  }
  return judged;
}

/** Bytes a row at the end of the judged time against its begin. */
export interface TableSize {
  name: string;
  megabytes: number;
  rows: number;
}

export function judgeBloat(before: readonly TableSize[], after: readonly TableSize[]): Judged[] {
  return after.flatMap(({ name, megabytes, rows }) => {
    const earlier = before.find((one) => one.name === name);
    if (!earlier || earlier.rows < 100 || rows < 100 || megabytes < bloatFromMb) return [];
    const perRow = (one: { megabytes: number; rows: number }) => (one.megabytes * 1e6) / one.rows;
    const bound = { factor: bloatFactor, plus: 0 };
    return compare(`bytes a row of ${name}`, perRow(earlier), perRow({ megabytes, rows }), bound);
  });
}

/** A control call of this multiple of a quick one means that the machine is busy with something else. */
const busyFactor = 3;

/** Timings of moments in which the machine was not busy with something else. */
function undisturbed(timings: readonly Timing[]): Timing[] {
  const control = timings.filter(({ operation }) => operation === "control");
  const quick = control.map(({ ms }) => ms).sort((one, other) => one - other)[Math.floor(control.length / 10)] ?? 0;
  const secondOf = (at: number) => Math.floor(at / 1000);
  const busy = new Set(control.filter(({ ms }) => ms > busyFactor * quick).map(({ at }) => secondOf(at)));
  return timings.filter(({ at, ms }) => {
    for (let second = secondOf(at); second <= secondOf(at + ms); second++) if (busy.has(second)) return false;
    return true;
  });
}

/** Medians of the first and the last third of this time, divided by the change of the control. */
export function judgeDrift(timings: readonly Timing[], from: number, to: number): Judged[] {
  const [early, late] = thirds(undisturbed(timings), from, to);
  const of = (some: Timing[], operation: string) =>
    some.filter((one) => one.operation === operation).map(({ ms }) => ms);
  const noise = median(of(late, "control")) / median(of(early, "control"));
  const operations = [...new Set(timings.map(({ operation }) => operation))].sort();
  return operations.flatMap((operation) => {
    const [first, last] = [of(early, operation), of(late, operation)];
    if (Math.min(first.length, last.length) < fewestTimings) return [];
    // A calmer machine must not hide a drift of small waits, so the correction works only against a busier one.
    const correction = operation === "control" ? 1 : Math.max(1, noise);
    const bound = operation === "control" ? undefined : driftBound;
    return compare(`${operation} (ms)`, median(first), median(last) / correction, bound);
  });
}

const shown = (figure: number) => (Number.isNaN(figure) ? "–" : figure >= 100 ? figure.toFixed(0) : figure.toFixed(1));

export function tableOf(title: string, judged: readonly Judged[]): string {
  const rows = judged.map(
    ({ what, first, last, bound, isWithin }) =>
      `| ${what} | ${shown(first)} | ${shown(last)} | ${bound}${isWithin ? "" : " **exceeded**"} |`,
  );
  return [`| ${title} | first third | last third | bound |`, "|---|---|---|---|", ...rows].join("\n");
}

export function outcomesOf({ counts }: Journal): string {
  const rows = [...counts]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([operation, outcomes]) => {
      const all = [...outcomes].sort(([, one], [, other]) => other - one).map(([outcome, n]) => `${outcome} × ${n}`);
      return `| ${operation} | ${all.join(", ")} |`;
    });
  return ["| operation | outcomes |", "|---|---|", ...rows].join("\n");
}
