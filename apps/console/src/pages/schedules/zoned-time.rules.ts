export const localZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Zones that the browser knows, and UTC. */
export const timeZones = (): readonly string[] => [...new Set(["UTC", ...Intl.supportedValuesOf("timeZone")])];

const day = { weekday: "short", month: "short", day: "numeric" } as const;
const clock = { hour: "numeric", minute: "2-digit" } as const;

/** Undefined: the browser does not know the zone. */
function textIn(timeZone: string, moment: string, parts: Intl.DateTimeFormatOptions, locale?: string) {
  try {
    return new Intl.DateTimeFormat(locale, { ...parts, timeZone }).format(new Date(moment));
  } catch {
    return undefined;
  }
}

export interface ZonedTime {
  /** In the zone of the schedule, such as "Mon, Nov 23, 9:00 AM". */
  there: string;
  /** In the zone of the reader, if its clock shows something else; without the day if it is the same. */
  here: string | undefined;
}

export function zonedTime(moment: string, zone: string, reader = localZone(), locale?: string): ZonedTime {
  const text = (timeZone: string, parts: Intl.DateTimeFormatOptions) => textIn(timeZone, moment, parts, locale);
  const there = text(zone, { ...day, ...clock });
  const here = text(reader, { ...day, ...clock });
  if (there === here) return { there: there ?? moment, here: undefined };
  const isSameDay = text(zone, day) === text(reader, day);
  return { there: there ?? moment, here: isSameDay ? text(reader, clock) : here };
}
