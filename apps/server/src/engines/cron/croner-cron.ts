import { Cron as Croner } from "croner";
import type { Cron, CronProblem, CronTimes } from "./cron.ts";

/** Compiled expressions are kept, because compiling costs as much as finding a time. Each takes 80 kB. */
const mostKept = 200;

const nicknames = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

const fields = [
  { name: "minute", allowed: "0 to 59" },
  { name: "hour", allowed: "0 to 23" },
  { name: "day of the month", allowed: "1 to 31, L for the last day, or 15W for the weekday nearest to the 15th" },
  { name: "month", allowed: "1 to 12, or JAN to DEC" },
  { name: "day of the week", allowed: "0 to 7 (Sunday is 0 and 7), SUN to SAT, or MON#2 for the second Monday" },
];
const fiveFields = "Use five fields: minute, hour, day of the month, month, day of the week, as in 0 9 * * MON-FRI.";
/** The library also reads dates and takes other characters for separators. */
const fieldCharacters = /^[A-Za-z0-9*,/?#+-]+$/;

export function createCron(): Cron {
  const compiled = new Map<string, Croner>();

  function compile({ cron, timezone }: CronTimes): Croner {
    const key = `${timezone} ${cron}`;
    const known = compiled.get(key);
    // A used expression moves to the end, so the first is the least recently used.
    if (known) compiled.delete(key);
    const expression = known ?? new Croner(cron.trim(), { timezone, mode: "5-part" });
    compiled.set(key, expression);
    for (const oldest of compiled.keys()) {
      if (compiled.size <= mostKept) break;
      compiled.delete(oldest);
    }
    return expression;
  }

  return {
    check(wanted, now) {
      const problem = timezoneProblem(wanted.timezone) ?? expressionProblem(wanted.cron);
      if (problem) return problem;
      if (isEverDue(wanted, now)) return undefined;
      const message = "This expression is never due: no month that it names has such a day. Choose another day.";
      return { field: "cron", message };
    },
    next: (wanted, after, count) => compile(wanted).nextRuns(count, after),
    latest(wanted, until) {
      // The library looks at whole seconds, and before the given one.
      const nextSecond = new Date(Math.floor(until.getTime() / 1000) * 1000 + 1000);
      return compile(wanted).previousRuns(1, nextSecond)[0];
    },
  };
}

/** Every day of a year falls on each day of the week within 40 years. */
const mostYears = 40;

/** The library would look for a due time until the year 3000, which takes up to a second of the event loop. */
function isEverDue({ cron, timezone }: CronTimes, now: Date): boolean {
  const given = cron.trim();
  if (given.startsWith("@")) return true;
  const year = now.getUTCFullYear();
  const bounded = `0 ${given} ${year}-${year + mostYears}`;
  return new Croner(bounded, { timezone, mode: "7-part" }).nextRun(now) !== null;
}

function timezoneProblem(timezone: string): CronProblem | undefined {
  // Offsets are valid for Intl, but do not follow daylight saving time.
  if (/^[A-Za-z]/.test(timezone) && isKnown(timezone)) return undefined;
  const message = `${JSON.stringify(timezone)} is not a time zone. Use a name such as Europe/Berlin, America/New_York or UTC.`;
  return { field: "timezone", message };
}

function isKnown(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone });
    return true;
  } catch {
    return false;
  }
}

function expressionProblem(cron: string): CronProblem | undefined {
  const message = problemOf(cron.trim());
  return message === undefined ? undefined : { field: "cron", message };
}

function problemOf(cron: string): string | undefined {
  if (cron.startsWith("@")) {
    if (nicknames.includes(cron.toLowerCase())) return undefined;
    return `${JSON.stringify(cron)} is not a known shorthand. Use one of ${nicknames.join(", ")}, or five fields.`;
  }
  const given = cron.split(/\s+/);
  if (given.length > fields.length) {
    return `The expression has ${given.length} fields. Seconds and years are not supported: a schedule runs at most once a minute. ${fiveFields}`;
  }
  if (given.length < fields.length) {
    return `The expression has ${given.length} ${given.length === 1 ? "field" : "fields"}. ${fiveFields}`;
  }
  for (const [at, { name, allowed }] of fields.entries()) {
    const text = given[at] ?? "";
    if (!isValidAt(at, text)) {
      return `${JSON.stringify(text)} is not valid for the ${name}. Use ${allowed}; lists (1,2), ranges (1-5), steps (*/10) or * for every value.`;
    }
  }
  return undefined;
}

/** Compiles the field alone, because messages of the library do not name it for people. */
function isValidAt(at: number, text: string): boolean {
  if (!fieldCharacters.test(text)) return false;
  try {
    new Croner(fields.map((_, other) => (other === at ? text : "*")).join(" "), { mode: "5-part" });
    return true;
  } catch {
    return false;
  }
}
