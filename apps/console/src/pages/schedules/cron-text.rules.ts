export interface CronPreset {
  label: string;
  cron: string;
}

export const cronPresets: readonly CronPreset[] = [
  { label: "Every weekday at 9:00", cron: "0 9 * * MON-FRI" },
  { label: "Every day at 9:00", cron: "0 9 * * *" },
  { label: "Every Monday at 9:00", cron: "0 9 * * MON" },
  { label: "On the first day of each month at 9:00", cron: "0 9 1 * *" },
  { label: "Every hour", cron: "0 * * * *" },
  { label: "Every 15 minutes", cron: "*/15 * * * *" },
];

const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const months = [
  ...["January", "February", "March", "April", "May", "June"],
  ...["July", "August", "September", "October", "November", "December"],
];

/** A cron expression in words. Undefined: not valid, or too unusual for a sentence. */
export function cronText(cron: string): string | undefined {
  const parts = cron.trim().split(/\s+/);
  if (parts.length !== 5) return undefined;
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = parts;
  const when = timesText(minute, hour);
  const date = dateText(day, weekday);
  const ofMonths = month === "*" ? "" : listText(month, { first: 1, last: 12, names: months });
  if (when === undefined || date === undefined || ofMonths === undefined) return undefined;
  const inMonths = ofMonths === "" ? "" : ` in ${ofMonths}`;
  // "Every hour" needs no "every day".
  if (when.isRepeated) return sentence(`${when.text}${date === "every day" ? "" : `, ${date}`}${inMonths}`);
  return sentence(`${date}${inMonths} ${when.text}`);
}

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** `isRepeated`: within a day. */
function timesText(minute: string, hour: string): { text: string; isRepeated: boolean } | undefined {
  const step = /^(?:\*|0)\/(\d+)$/;
  const everyMinutes = step.exec(minute)?.[1] ?? (minute === "*" ? "1" : undefined);
  if (everyMinutes !== undefined) {
    const text = everyText(Number(everyMinutes), "minute");
    if (hour === "*") return { text, isRepeated: true };
    const hours = hoursText(hour);
    return hours === undefined ? undefined : { text: `${text} ${hours}`, isRepeated: true };
  }
  const minutes = numbersIn(minute, { first: 0, last: 59 });
  if (!minutes) return undefined;
  const past = minutes.every((n) => n === 0) ? "" : ` at ${joined(minutes.map(String))} minutes past the hour`;
  if (hour === "*") return { text: `every hour${past}`, isRepeated: true };
  const everyHours = step.exec(hour)?.[1];
  if (everyHours !== undefined) return { text: `${everyText(Number(everyHours), "hour")}${past}`, isRepeated: true };
  if (/^\d+-\d+$/.test(hour)) {
    const hours = hoursText(hour);
    return hours === undefined ? undefined : { text: `every hour ${hours}${past}`, isRepeated: true };
  }
  const hours = numbersIn(hour, { first: 0, last: 23 });
  if (!hours || hours.length * minutes.length > 6) return undefined;
  const times = hours.flatMap((h) => minutes.map((m) => `${h}:${String(m).padStart(2, "0")}`));
  return { text: `at ${joined(times)}`, isRepeated: false };
}

const everyText = (n: number, unit: string) => (n === 1 ? `every ${unit}` : `every ${n} ${unit}s`);

function hoursText(hour: string): string | undefined {
  const [, from, to] = /^(\d{1,2})-(\d{1,2})$/.exec(hour) ?? [];
  if (from !== undefined && to !== undefined && Number(to) <= 23) return `from ${Number(from)}:00 to ${Number(to)}:59`;
  const hours = numbersIn(hour, { first: 0, last: 23 });
  return hours && hours.length <= 3 ? `in the hour from ${joined(hours.map((h) => `${h}:00`))}` : undefined;
}

function dateText(day: string, weekday: string): string | undefined {
  const anyDay = day === "*" || day === "?";
  const anyWeekday = weekday === "*" || weekday === "?";
  if (anyDay && anyWeekday) return "every day";
  // A day of the month and a day of the week: cron means either, which surprises most readers.
  if (!anyDay && !anyWeekday) return undefined;
  if (!anyWeekday) return weekdaysText(weekday);
  if (day.toUpperCase() === "L") return "on the last day of each month";
  const numbers = numbersIn(day, { first: 1, last: 31 });
  if (!numbers) return undefined;
  if (numbers.length === 1 && numbers[0] === 1) return "on the first day of each month";
  return `on day ${joined(numbers.map(String))} of each month`;
}

function weekdaysText(weekday: string): string | undefined {
  const range = { first: 0, last: 7, names: days };
  const numbers = numbersIn(weekday, range)?.map((n) => n % 7);
  if (!numbers) return undefined;
  const set = new Set(numbers);
  if (set.size === 7) return "every day";
  if (set.size === 5 && !set.has(0) && !set.has(6)) return "every weekday";
  return `every ${joined([...set].sort((a, b) => ((a + 6) % 7) - ((b + 6) % 7)).map((n) => days[n] ?? ""))}`;
}

interface Range {
  first: number;
  last: number;
  /** Names of the values, from `first`. Their first three letters stand for them. */
  names?: readonly string[];
}

function listText(field: string, range: Range): string | undefined {
  const numbers = numbersIn(field, range);
  return numbers && joined(numbers.map((n) => range.names?.[n - range.first] ?? String(n)));
}

/** The values of a list such as `1,3-5`. Undefined: not a plain list. */
function numbersIn(field: string, range: Range): number[] | undefined {
  const numbers: number[] = [];
  for (const part of field.split(",")) {
    const [from, to, ...rest] = part.split("-").map((text) => numberOf(text, range));
    if (from === undefined || rest.length > 0 || (part.includes("-") && to === undefined)) return undefined;
    const last = to ?? from;
    if (last < from) return undefined;
    for (let n = from; n <= last; n++) numbers.push(n);
  }
  return numbers;
}

function numberOf(text: string, { first, last, names = [] }: Range): number | undefined {
  const named = names.findIndex((name) => name.slice(0, 3).toUpperCase() === text.toUpperCase());
  if (named !== -1) return first + named;
  const n = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  return n >= first && n <= last ? n : undefined;
}

const joined = (texts: readonly string[]): string =>
  texts.length < 2 ? (texts[0] ?? "") : `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}`;
