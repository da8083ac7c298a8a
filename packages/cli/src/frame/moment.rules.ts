import { wrongArguments } from "./failure.ts";

const units = { m: 60, h: 3_600, d: 86_400, w: 604_800 } as const;

/** Seconds of `30m`, `12h`, `7d` or `2w`; undefined for any other text. */
export function spanOf(text: string): number | undefined {
  const [, n, unit] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  return n === undefined ? undefined : Number(n) * units[unit as keyof typeof units];
}

/** A time as typed: ISO 8601, or a span before (`from`) or after (`expires`) now. */
export function momentOf(option: string, text: string, direction: "ago" | "ahead", now = Date.now()): Date {
  const span = spanOf(text);
  const at = span === undefined ? Date.parse(text) : now + (direction === "ago" ? -1 : 1) * span * 1000;
  if (Number.isNaN(at) || (span === undefined && !/^\d{4}-\d\d-\d\d/.test(text))) {
    throw wrongArguments(
      `--${option} must be a time such as 2026-01-31, 2026-01-31T12:00:00Z, 12h or 7d, not ${text}.`,
    );
  }
  return new Date(at);
}

/** A whole number as typed, such as 20000. */
export function countOf(option: string, text: string): number {
  const count = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(count)) return count;
  throw wrongArguments(`--${option} must be a whole number such as 20000, not ${text}.`);
}

/** Dollars as typed, such as 0.5. */
export function dollarsOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const amount = /^\$?\d+(\.\d+)?$/.test(text) ? Number(text.replace("$", "")) : Number.NaN;
  if (Number.isFinite(amount)) return amount;
  throw wrongArguments(`--${option} must be an amount in dollars such as 0.5, not ${text}.`);
}
