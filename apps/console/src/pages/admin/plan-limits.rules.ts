import type { PutPlanBody } from "@gantry/sdk";
import { count } from "../../ui/format.ts";

/** A limit as a form holds it; empty is none. */
export const limitText = (limit: number | null): string => (limit === null ? "" : String(limit));

/** NaN where it is no number: the form says so before it is sent. */
export const limitOf = (text: string): number | null => (text.trim() === "" ? null : Number(text));

export const limitIssue = (text: string): string | undefined => {
  const limit = limitOf(text);
  return limit === null || (Number.isInteger(limit) && limit >= 1) ? undefined : "Must be a whole number from 1 on";
};

/** As "600 a minute, 32 at once". */
export function wordsOfLimits({ requests_per_minute, parallel }: PutPlanBody): string {
  if (requests_per_minute === null && parallel === null) return "no limits";
  return [
    requests_per_minute === null ? "any number of requests" : `${count(requests_per_minute)} a minute`,
    parallel === null ? "any number at once" : `${count(parallel)} at once`,
  ].join(", ");
}
