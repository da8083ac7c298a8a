/** Null: no limit. */
export interface KeyLimits {
  /** Of money. */
  month: number | null;
  day: number | null;
  /** Of tokens. */
  minute: number | null;
}

export interface Sum {
  spent: number;
  reserved: number;
}

interface TokenEntry {
  at: number;
  tokens: number;
}

export interface Key {
  user: string;
  parent: Key | undefined;
  limits: KeyLimits;
  revoked: boolean;
  /** By the first day of the month. */
  months: Map<string, Sum>;
  days: Map<string, Sum>;
  tokens: TokenEntry[];
}

/** What acceptance counted towards one key, whatever its limits are at the end. */
interface Counting {
  sums: Sum[];
  entry: TokenEntry | undefined;
}

export type Counted = readonly Counting[];

export const minute = 60_000;
const unlimited = Number.POSITIVE_INFINITY;

export const noLimits: KeyLimits = { month: null, day: null, minute: null };
export const monthOf = (day: string) => `${day.slice(0, 7)}-01`;
export const firstDay = "2026-01-01";

/** The next day, or the first day of the next month. */
export function dayAfter(kind: "day" | "month", day: string): string {
  const [year = 0, month = 0] = day.split("-").map(Number);
  const next = kind === "day" ? new Date(Date.parse(day) + 86_400_000) : new Date(Date.UTC(year, month));
  return next.toISOString().slice(0, 10);
}

/** The keys that a prediction of the key counts towards. */
export const lineOf = (key: Key): readonly Key[] => (key.parent ? [key, key.parent] : [key]);

/** Keys by id. Parents come before their children. */
export function keysOf(
  world: Record<string, { user: string; parent: string | null; limits: KeyLimits }>,
): Map<string, Key> {
  const keys = new Map<string, Key>();
  for (const [id, { parent, ...key }] of Object.entries(world))
    keys.set(id, {
      ...{ ...key, parent: parent === null ? undefined : keys.get(parent), revoked: false },
      ...{ months: new Map(), days: new Map(), tokens: [] },
    });
  return keys;
}

function sumAt(sums: Map<string, Sum>, period: string): Sum {
  const sum = sums.get(period) ?? { spent: 0, reserved: 0 };
  sums.set(period, sum);
  return sum;
}

/** What the key and its parent may still spend. */
export function leftOf(key: Key, today: string): number {
  const left = ({ limits, months, days }: Key) => {
    const [month, day] = [sumAt(months, monthOf(today)), sumAt(days, today)];
    return Math.min(
      (limits.month ?? unlimited) - month.spent - month.reserved,
      (limits.day ?? unlimited) - day.spent - day.reserved,
    );
  };
  return Math.min(...lineOf(key).map(left));
}

export function tokensIn({ tokens }: Key, now: number): number {
  return tokens.reduce((sum, one) => (one.at > now - minute ? sum + one.tokens : sum), 0);
}

export function isLargerThanMinute(key: Key, tokens: number): boolean {
  return lineOf(key).some(({ limits }) => tokens > (limits.minute ?? unlimited));
}

const isOver = (key: Key, tokens: number, now: number) =>
  tokensIn(key, now) + tokens > (key.limits.minute ?? unlimited);

export function hasNoTokens(key: Key, tokens: number, now: number): boolean {
  return tokens > 0 && lineOf(key).some((one) => isOver(one, tokens, now));
}

/** Milliseconds until the tokens fit. Seconds are rounded up. */
export function untilTokens(key: Key, tokens: number, now: number): number {
  const waits = lineOf(key)
    .filter((one) => isOver(one, tokens, now))
    .map((one) => {
      const over = tokensIn(one, now) + tokens - (one.limits.minute ?? unlimited);
      const within = one.tokens.filter(({ at }) => at > now - minute);
      const goneAt = (n: number) => within.slice(0, n + 1).reduce((sum, entry) => sum + entry.tokens, 0);
      const leaving = within.find((_, n) => goneAt(n) >= over);
      return (leaving?.at ?? now) + minute + 1000 - now;
    });
  return Math.max(...waits);
}

export function countKeys(
  key: Key,
  { today, now, reservation, tokens }: { today: string; now: number; reservation: number; tokens: number },
): Counted {
  return lineOf(key).map(({ limits, months, days, tokens: entries }) => {
    const sums = [
      ...(limits.month === null ? [] : [sumAt(months, monthOf(today))]),
      ...(limits.day === null ? [] : [sumAt(days, today)]),
    ];
    for (const sum of sums) sum.reserved += reservation;
    const entry = limits.minute === null ? undefined : { at: now, tokens };
    if (entry) entries.push(entry);
    return { sums, entry };
  });
}

export function settleKeys(
  counted: Counted,
  { reserved, price, tokens }: { reserved: number; price: number; tokens: number },
): void {
  for (const { sums, entry } of counted) {
    for (const sum of sums) {
      sum.reserved -= reserved;
      sum.spent += price;
    }
    if (entry) entry.tokens = tokens;
  }
}

/** By key and period, without empty ones. */
export function sumsOf(keys: ReadonlyMap<string, Key>, of: "months" | "days"): Record<string, Sum> {
  const found: Record<string, Sum> = {};
  for (const [id, key] of keys)
    for (const [period, sum] of key[of])
      if (sum.spent !== 0 || sum.reserved !== 0) found[`${id} ${period}`] = { ...sum };
  return found;
}
