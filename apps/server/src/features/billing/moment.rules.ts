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
