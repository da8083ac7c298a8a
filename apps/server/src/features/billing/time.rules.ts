/**
 * A moment to the microsecond, as PostgreSQL keeps it, in UTC and always in the form `2026-01-31T23:59:59.000000Z`:
 * such texts sort by time. A JavaScript Date would cut it to milliseconds, and a row could then not be named by its own
 * time.
 */
export type Moment = string;

/** Microseconds since 1970, for calculating. */
export type Micros1970 = number;

const form =
  /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:[Zz]|([+ -])([01]\d|2[0-3])(?::?([0-5]\d))?)?$/;

/** There is no usage before, and the numbers stay exact for longer than that. */
const latest: Micros1970 = Date.UTC(2200, 0) * 1000;

/**
 * Reads a date and time of ISO 8601; without a zone it is UTC. Undefined when it is none, or a day that no calendar
 * has. A blank before the zone is the `+` of a client that did not encode its query.
 */
export function readMoment(text: string): Moment | undefined {
  const match = form.exec(text);
  if (!match) return undefined;
  const [, date, time, seconds = "00", fraction = "", sign, zoneHours = "0", zoneMinutes = "0"] = match;
  const local = `${date}T${time}:${seconds}.000Z`;
  const millis = Date.parse(local);
  // Date.parse moves the 30th of February on to March.
  if (Number.isNaN(millis) || new Date(millis).toISOString() !== local) return undefined;
  const ahead = (sign === "-" ? -1 : 1) * (Number(zoneHours) * 60 + Number(zoneMinutes)) * 60_000;
  const utc = new Date(millis - ahead).toISOString();
  if (!/^\d{4}-/.test(utc) || utc.startsWith("0000")) return undefined;
  return `${utc.slice(0, 19)}.${fraction.padEnd(6, "0").slice(0, 6)}Z`;
}

/** As the wire shows it: to the millisecond, or to the microsecond where there is one. */
export function shownMoment(moment: Moment): string {
  return moment.replace(/000Z$/, "Z");
}

/** Moments before 1970 or after 2200 become those. */
export function microsOfMoment(moment: Moment): Micros1970 {
  const micros = Date.parse(`${moment.slice(0, 19)}Z`) * 1000 + Number(moment.slice(20, 26));
  return Math.min(Math.max(micros, 0), latest);
}

export function momentOfMicros(micros: Micros1970): Moment {
  const iso = new Date(Math.floor(micros / 1000)).toISOString();
  return `${iso.slice(0, 23)}${String(micros % 1000).padStart(3, "0")}Z`;
}

/** From `from` on and before `to`; `to` may be Infinity. */
export interface Span {
  from: Micros1970;
  to: Micros1970;
}

/** What is asked for. Both ends belong to it; undefined is no end. */
export interface TimeRange {
  from: Moment | undefined;
  to: Moment | undefined;
}

/** How far the sums of a user have come, and how far back single rows reach. */
export interface UsageMarks {
  /** The database's own time, no earlier than any row that is visible. */
  now: Micros1970;
  daysBefore: Micros1970;
  horizon: Micros1970;
  /** Rows after this moment are not in the sums yet. */
  foldedUntil: Micros1970;
}

/**
 * A span as the parts that are cheapest to add up: whole days, whole hours, and for the hours at its two ends the rows
 * themselves. Of such an hour the smaller part is read: what belongs to the span is added (sign 1), or the whole hour
 * is taken and what does not belong is taken off again (sign -1). Rows that the sums of these days and hours do not have
 * yet are added.
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

/**
 * An end that is not in the past is no end: nothing is later than now, and the
 * sums of the running hour are then as good as its rows.
 */
export function spanOf(asked: TimeRange, now: Micros1970): Span {
  const to = asked.to === undefined ? Number.POSITIVE_INFINITY : microsOfMoment(asked.to);
  return {
    from: asked.from === undefined ? 0 : microsOfMoment(asked.from),
    to: to >= now ? Number.POSITIVE_INFINITY : to + 1,
  };
}

/** Single rows before the horizon are gone: a list begins there. */
export function withinRows(span: Span, { horizon }: UsageMarks): Span {
  return { from: Math.max(span.from, horizon), to: span.to };
}

/** Before the horizon only whole hours are known: there an end means the nearest full hour. */
export function withinSums({ from, to }: Span, { horizon }: UsageMarks): Span {
  const toHour = (time: Micros1970): Micros1970 => (time < horizon ? Math.round(time / hour) * hour : time);
  return { from: toHour(from), to: toHour(to) };
}

export function cutTime({ from, to }: Span, { daysBefore, foldedUntil }: UsageMarks): TimeCut {
  if (from >= to) return { days: nothing, hours: [], rows: [] };
  const rows: TimeCut["rows"] = [];
  const whole: Span = { from: up(from, hour), to: down(to, hour) };
  if (whole.from > whole.to) return { days: nothing, hours: [], rows: [{ from, to, sign: 1 }] };
  // An hour from which rows are taken off must not vanish in a day: its own sum is needed to find a page.
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
