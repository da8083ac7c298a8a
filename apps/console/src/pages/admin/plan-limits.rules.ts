import type { PutPlanBody } from "@gantry/sdk";
import { bytes, count } from "../../ui/format.ts";

/** A limit as a form holds it; empty is none. */
export const limitText = (limit: number | null): string => (limit === null ? "" : String(limit));

/** NaN where it is no number: the form says so before it is sent. */
export const limitOf = (text: string): number | null => (text.trim() === "" ? null : Number(text));

export const limitIssue = (text: string): string | undefined => {
  const limit = limitOf(text);
  return limit === null || (Number.isInteger(limit) && limit >= 1) ? undefined : "Must be a whole number from 1 on";
};

const mb = 1024 * 1024;

/** A quota as a form holds it, in MB; empty is the server's default. */
export const quotaText = (bytes: number | null): string => (bytes === null ? "" : String(bytes / mb));

export const quotaOf = (text: string): number | null => (text.trim() === "" ? null : Math.round(Number(text) * mb));

export const quotaIssue = (text: string): string | undefined => {
  const quota = quotaOf(text);
  return quota === null || (Number.isSafeInteger(quota) && quota >= 0) ? undefined : "Must be a number from 0 on";
};

export function wordsOfQuota(quota: number | null): string {
  if (quota === null) return "default";
  return quota === 0 ? "any" : bytes(quota);
}

/** As "600 a minute, 32 at once, 100 MB". */
export function wordsOfLimits({ requests_per_minute, parallel, storage_bytes = null }: PutPlanBody): string {
  const quota = storage_bytes === null || storage_bytes === 0 ? [] : [bytes(storage_bytes)];
  if (requests_per_minute === null && parallel === null && quota.length === 0) return "no limits";
  return [
    requests_per_minute === null ? "any number of requests" : `${count(requests_per_minute)} a minute`,
    parallel === null ? "any number at once" : `${count(parallel)} at once`,
    ...quota,
  ].join(", ");
}
