/**
 * A time in microseconds as PostgreSQL stores it, always as UTC in the form `2026-01-31T23:59:59.000000Z`, so that texts
 * sort by time. A JavaScript Date would lose the microseconds, which identify a row.
 */
export type Moment = string;

export type Micros1970 = number;

const form =
  /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:[Zz]|([+ -])([01]\d|2[0-3])(?::?([0-5]\d))?)?$/;

/** Far in the future, and still an exact number. */
const latest: Micros1970 = Date.UTC(2200, 0) * 1000;

/**
 * Parses an ISO 8601 date and time, by default in UTC. Undefined if it is invalid. A blank before the zone is accepted as the
 * `+` of a client that did not encode its query.
 */
export function readMoment(text: string): Moment | undefined {
  const match = form.exec(text);
  if (!match) return undefined;
  const [, date, time, seconds = "00", fraction = "", sign, zoneHours = "0", zoneMinutes = "0"] = match;
  const local = `${date}T${time}:${seconds}.000Z`;
  const millis = Date.parse(local);
  // Date.parse accepts February 30 as a day in March.
  if (Number.isNaN(millis) || new Date(millis).toISOString() !== local) return undefined;
  const ahead = (sign === "-" ? -1 : 1) * (Number(zoneHours) * 60 + Number(zoneMinutes)) * 60_000;
  const utc = new Date(millis - ahead).toISOString();
  if (!/^\d{4}-/.test(utc) || utc.startsWith("0000")) return undefined;
  return `${utc.slice(0, 19)}.${fraction.padEnd(6, "0").slice(0, 6)}Z`;
}

/** For the API: in milliseconds, or in microseconds if there are any. */
export function shownMoment(moment: Moment): string {
  return moment.replace(/000Z$/, "Z");
}

/** Clamped to 1970 through 2200. */
export function microsOfMoment(moment: Moment): Micros1970 {
  return clamp(Date.parse(`${moment.slice(0, 19)}Z`) * 1000 + Number(moment.slice(20, 26)));
}

/** Clamped alike: an id may begin with any time, and PostgreSQL reads years of four digits. */
export function momentOfMicros(time: Micros1970): Moment {
  const micros = clamp(time);
  const iso = new Date(Math.floor(micros / 1000)).toISOString();
  return `${iso.slice(0, 23)}${String(micros % 1000).padStart(3, "0")}Z`;
}

function clamp(micros: Micros1970): Micros1970 {
  return Math.min(Math.max(micros, 0), latest);
}

/** Includes `from` and excludes `to`, which may be Infinity. */
export interface Span {
  from: Micros1970;
  to: Micros1970;
}

/** A requested range. Includes both ends; undefined is unbounded. */
export interface TimeRange {
  from: Moment | undefined;
  to: Moment | undefined;
}

/** How far the sums of a user reach, and how far back rows exist. */
export interface UsageMarks {
  /** The database's time, not before any visible row. */
  now: Micros1970;
  daysBefore: Micros1970;
  horizon: Micros1970;
  foldedUntil: Micros1970;
}

/**
 * A span in the parts that are cheapest to add up: whole days, whole hours, and rows for the hours at both ends. Of such an
 * hour the smaller part is read: rows inside the span are added (sign 1), or rows outside are subtracted from the whole hour
 * (sign -1). Rows that are not in the sums yet are added.
 *
 *     from                                                                to
 *      ├─rows─┼──hours──┼──────────────days──────────────┼──hours──┼─rows─┤
 */
export interface TimeCut {
  days: Span;
  hours: Span[];
  rows: (Span & { sign: 1 | -1 })[];
}

export const hourMicros = 3_600_000_000;
const hour = hourMicros;
const day = 24 * hour;
const nothing: Span = { from: 0, to: 0 };

const down = (time: Micros1970, unit: number): number => Math.floor(time / unit) * unit;
const up = (time: Micros1970, unit: number): number => Math.ceil(time / unit) * unit;

/** An end that is not in the past is unbounded, so that the sum of the current hour can be used instead of its rows. */
export function spanOf(asked: TimeRange, now: Micros1970): Span {
  const to = asked.to === undefined ? Number.POSITIVE_INFINITY : microsOfMoment(asked.to);
  return {
    from: asked.from === undefined ? 0 : microsOfMoment(asked.from),
    to: to >= now ? Number.POSITIVE_INFINITY : to + 1,
  };
}

/** Rows before the horizon were dropped. */
export function withinRows(span: Span, { horizon }: UsageMarks): Span {
  return { from: Math.max(span.from, horizon), to: span.to };
}

/** Before the horizon only hours are known, so an end there is rounded to the nearest hour. */
export function withinSums({ from, to }: Span, { horizon }: UsageMarks): Span {
  const toHour = (time: Micros1970): Micros1970 => (time < horizon ? Math.round(time / hour) * hour : time);
  return { from: toHour(from), to: toHour(to) };
}

export function cutTime({ from, to }: Span, { daysBefore, foldedUntil }: UsageMarks): TimeCut {
  if (from >= to) return { days: nothing, hours: [], rows: [] };
  const rows: TimeCut["rows"] = [];
  const whole: Span = { from: up(from, hour), to: down(to, hour) };
  if (whole.from > whole.to) return { days: nothing, hours: [], rows: [{ from, to, sign: 1 }] };
  // An hour with subtracted rows must not become part of a day, because finding a page needs its sum.
  const clear: Span = { ...whole };
  if (from < whole.from) {
    const begins = whole.from - hour;
    if (from - begins < hour / 2) {
      rows.push({ from: begins, to: from, sign: -1 });
      whole.from = begins;
    } else rows.push({ from, to: whole.from, sign: 1 });
  }
  if (to > whole.to) {
    const ends = whole.to + hour;
    if (ends - to < hour / 2) {
      rows.push({ from: to, to: ends, sign: -1 });
      whole.to = ends;
    } else rows.push({ from: whole.to, to, sign: 1 });
  }
  const unfolded = { from: Math.max(whole.from, foldedUntil + 1), to: whole.to };
  if (unfolded.from < unfolded.to) rows.push({ ...unfolded, sign: 1 });
  const days: Span = { from: up(clear.from, day), to: Math.min(down(clear.to, day), daysBefore) };
  const hours =
    days.from < days.to
      ? [
          { ...whole, to: days.from },
          { ...whole, from: days.to },
        ]
      : [whole];
  return { days: days.from < days.to ? days : nothing, hours: hours.filter((span) => span.from < span.to), rows };
}

export interface UsageMonth {
  table: string;
  from: Date;
  to: Date;
}

const tableForm = /^usage_(\d{4})_(\d\d)$/;

export function monthOf(time: Date, monthsLater = 0): UsageMonth {
  const from = new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + monthsLater));
  const to = new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + monthsLater + 1));
  return { table: `usage_${from.toISOString().slice(0, 7).replace("-", "_")}`, from, to };
}

/** Undefined for other tables, such as the default partition. */
export function monthOfTable(table: string): UsageMonth | undefined {
  const match = tableForm.exec(table);
  return match ? monthOf(new Date(Date.UTC(Number(match[1]), Number(match[2]) - 1))) : undefined;
}

export function monthsBetween(first: Date, last: Date): UsageMonth[] {
  const months: UsageMonth[] = [];
  for (let month = monthOf(first); month.from <= last; month = monthOf(month.to)) months.push(month);
  return months;
}
