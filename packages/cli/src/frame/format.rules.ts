/** Dollars as in the console: more decimals for small amounts. */
export function money(dollars: number): string {
  const size = Math.abs(dollars);
  const decimals = size !== 0 && size < 0.01 ? 6 : size < 1 ? 4 : 2;
  const text = size.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: decimals });
  return `${dollars < 0 ? "-" : ""}$${text}`;
}

export const count = (n: number): string => n.toLocaleString("en-US");

/** Units are powers of 1024. */
export function sizeOf(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}

export function seconds(value: number): string {
  if (value < 1) return `${Math.round(value * 1000)} ms`;
  if (value < 60) return `${value.toFixed(1)} s`;
  return elapsed(value);
}

/** Of something that still runs: whole seconds. */
export function elapsed(value: number): string {
  const whole = Math.max(0, Math.floor(value));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  if (hours > 0) return `${hours} h ${String(minutes).padStart(2, "0")} min`;
  return minutes > 0 ? `${minutes} min ${String(rest).padStart(2, "0")} s` : `${rest} s`;
}

const steps = [
  ["year", 31_557_600],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
] as const;

/** For example "3 hours ago" or "in 2 days"; empty without a time. */
export function ago(moment: string | Date | null | undefined, now = Date.now()): string {
  if (moment === null || moment === undefined) return "";
  const difference = Math.round((new Date(moment).getTime() - now) / 1000);
  const [unit, size] = steps.find(([, each]) => Math.abs(difference) >= each) ?? ["second", 1];
  const n = Math.round(Math.abs(difference) / size);
  if (n === 0) return "now";
  const words = `${n} ${unit}${n === 1 ? "" : "s"}`;
  return difference < 0 ? `${words} ago` : `in ${words}`;
}

/** In the local time zone, such as 2026-11-18 15:04:05. */
export function time(moment: string | Date | null | undefined): string {
  if (moment === null || moment === undefined) return "";
  const at = new Date(moment);
  const two = (n: number): string => String(n).padStart(2, "0");
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** Names and texts come from others: escape sequences in them could rewrite the terminal. */
export function visible(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to remove.
  const controls = /\r(?!\n)|[\0-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
  return text.replace(controls, "�");
}

/** For a cell of a table: one line. */
export const cell = (text: string): string => visible(text.replace(/\s+/g, " ").trim());
