/** Dollars, with more decimals for small amounts. */
export function money(dollars: number): string {
  const decimals = dollars !== 0 && Math.abs(dollars) < 0.01 ? 6 : Math.abs(dollars) < 1 ? 4 : 2;
  const text = Math.abs(dollars).toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: decimals });
  return `${dollars < 0 ? "−" : ""}$${text}`;
}

export const count = (n: number): string => n.toLocaleString("en-US");

const units = ["B", "kB", "MB", "GB", "TB"];
const step = 1024;

export function bytes(n: number): string {
  const power = n < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(n) / 10));
  const value = n / step ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}

export function seconds(value: number): string {
  if (value < 0.9995) return `${Math.round(value * 1000)} ms`;
  if (value < 59.95) return `${value.toFixed(1)} s`;
  const whole = Math.round(value);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  const minutes = Math.round(value / 60);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Of something that still runs: whole seconds, so that the text does not flicker. */
export function elapsed(value: number): string {
  const whole = Math.max(0, Math.floor(value));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  if (hours > 0) return `${hours} h ${String(minutes).padStart(2, "0")} min`;
  return minutes > 0 ? `${minutes} min ${String(rest).padStart(2, "0")} s` : `${rest} s`;
}

const long = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
export const time = (moment: string | Date): string => long.format(new Date(moment));

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_557_600],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
];

/** For example "3 hours ago" or "in 2 days". */
export function ago(moment: string | Date, now = Date.now()): string {
  const difference = (new Date(moment).getTime() - now) / 1000;
  const [unit, size] = steps.find(([, s]) => Math.abs(difference) >= s) ?? ["second", 1];
  return relative.format(Math.round(difference / size), unit);
}

/** In the largest unit that divides it, for example "5 minutes". */
export function span(seconds: number): string {
  const [unit, size] = spanUnits.find(([, each]) => seconds % each === 0) ?? ["second", 1];
  const n = seconds / size;
  return `${count(n)} ${unit}${n === 1 ? "" : "s"}`;
}
const spanUnits = [
  ["hour", 3_600],
  ["minute", 60],
] as const;
