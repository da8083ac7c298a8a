import type { DeliveryStatus } from "@gantry/wire";
import type { NetFailure } from "../../engines/net/net.ts";

export type AttemptEnd =
  | { kind: "answered"; status: number; latencyMs: number; retryAfterMs: number | undefined }
  | { kind: "unanswered"; reason: NetFailure | "not_prepared"; message: string; latencyMs: number };

/** New state of the delivery. `retryInMs` is set if it stays pending. */
export interface Verdict {
  status: DeliveryStatus;
  failures: number;
  retryInMs: number | null;
  lastStatus: number | null;
  lastError: string | null;
}

const seconds = 1000;
const minutes = 60 * seconds;
const hours = 60 * minutes;

/** Delay of each retry after the previous failure. */
export const retrySchedule: readonly number[] = [
  5 * seconds,
  30 * seconds,
  5 * minutes,
  30 * minutes,
  2 * hours,
  6 * hours,
  24 * hours,
];
const jitter = 0.2;
const longestRetryAfterMs = 24 * hours;

/**
 * `failures` counts those before this attempt; `random` is between 0 and 1. An invalid or private address fails without
 * retries, which would only probe the network. After fixing the name resolution, a user resends by hand.
 */
export function decideAfterAttempt(
  end: AttemptEnd,
  failures: number,
  schedule: readonly number[],
  random: number,
): Verdict {
  const lastStatus = end.kind === "answered" ? end.status : null;
  if (end.kind === "answered" && end.status >= 200 && end.status < 300) {
    return { status: "delivered", failures, retryInMs: null, lastStatus, lastError: null };
  }
  const failed = { failures: failures + 1, lastStatus, lastError: describe(end) };
  if (end.kind === "answered" && end.status === 410) return { ...failed, status: "gone", retryInMs: null };
  const pause = schedule[failures];
  const isHopeless = end.kind === "unanswered" && (end.reason === "address_refused" || end.reason === "invalid_url");
  if (pause === undefined || isHopeless) return { ...failed, status: "failed", retryInMs: null };
  const asked = end.kind === "answered" ? Math.min(end.retryAfterMs ?? 0, longestRetryAfterMs) : 0;
  const jittered = pause * (1 + jitter * (2 * random - 1));
  return { ...failed, status: "pending", retryInMs: Math.round(Math.max(jittered, asked)) };
}

function describe(end: AttemptEnd): string {
  if (end.kind === "unanswered") return end.message;
  const answered = `The receiver answered ${end.status}`;
  if (end.status === 410) return `${answered}: it does not want further deliveries`;
  return end.status >= 300 && end.status < 400 ? `${answered}: redirects are not followed` : answered;
}

/** Date formats of RFC 9110. `Date.parse` alone accepts too much. */
const httpDates = [
  /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/,
  /^[A-Z][a-z]{5,8}, \d\d-[A-Z][a-z]{2}-\d\d \d\d:\d\d:\d\d GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/,
];

/** Seconds or a date; other values are ignored. */
export function readRetryAfter(header: string | string[] | undefined, now: Date): number | undefined {
  const text = [header].flat()[0]?.trim();
  if (!text) return undefined;
  if (/^\d+$/.test(text)) return Number(text) * seconds;
  if (!httpDates.some((form) => form.test(text))) return undefined;
  // The last format has no time zone and means GMT.
  const date = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime());
}
