import type { NetHeaders } from "../../../engines/net/net.ts";

const longestBackoffMs = 60_000;

/** When the tenant's counter is at zero: the moment at which it is filled again. */
export function spentUntil(headers: NetHeaders): number | undefined {
  return numberIn(headers, "x-ratelimit-remaining") === 0 ? resetAt(headers) : undefined;
}

function resetAt(headers: NetHeaders): number | undefined {
  const seconds = numberIn(headers, "x-ratelimit-reset");
  return seconds === undefined ? undefined : seconds * 1000;
}

/**
 * How long to wait before the call is repeated: what the tenant says (`Retry-After` in seconds or as a date, else the
 * moment when its counter is filled), else a second, doubled each time. `random` spreads those who wait for one moment.
 */
export function waitBeforeRetry(headers: NetHeaders, attempt: number, now: number, random: number): number {
  const after = retryAfterMs(headers, now);
  if (after !== undefined) return after;
  const reset = resetAt(headers);
  const base = reset === undefined ? 1000 * 2 ** attempt : Math.max(reset - now, 100);
  return Math.min(base, reset === undefined ? longestBackoffMs : base) * (1 + random * 0.2);
}

function retryAfterMs(headers: NetHeaders, now: number): number | undefined {
  const text = textIn(headers, "retry-after");
  if (text === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Math.max(100, Number(text) * 1000);
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(100, date - now);
}

function numberIn(headers: NetHeaders, name: string): number | undefined {
  const text = textIn(headers, name);
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

function textIn(headers: NetHeaders, name: string): string | undefined {
  const value = headers[name];
  const [text] = [value ?? []].flat();
  return text?.trim();
}
