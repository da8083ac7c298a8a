import type { PutPlanBody } from "@gantry/sdk";
import { bytes, count } from "../../ui/format.ts";

/** Empty: no limit. */
export const limitText = (limit: number | null): string => (limit === null ? "" : String(limit));

/** NaN if the text is not a number; the form shows the error. */
export const limitOf = (text: string): number | null => (text.trim() === "" ? null : Number(text));

export const limitIssue = (text: string): string | undefined => {
  const limit = limitOf(text);
  return limit === null || (Number.isInteger(limit) && limit >= 1) ? undefined : "Must be a whole number of at least 1";
};

const mb = 1024 * 1024;

/** In MB. Empty: the server's default. */
export const quotaText = (bytes: number | null): string => (bytes === null ? "" : String(bytes / mb));

export const quotaOf = (text: string): number | null => (text.trim() === "" ? null : Math.round(Number(text) * mb));

export const quotaIssue = (text: string): string | undefined => {
  const quota = quotaOf(text);
  return quota === null || (Number.isSafeInteger(quota) && quota >= 0) ? undefined : "Must be 0 or more";
};

export function quotaLabel(quota: number | null): string {
  if (quota === null) return "Default";
  return quota === 0 ? "Unlimited" : bytes(quota);
}

/** For example "600 requests/min, 32 concurrent, 100 MB storage". */
export function limitsText({ requests_per_minute, parallel, storage_bytes = null }: PutPlanBody): string {
  const quota = storage_bytes === null || storage_bytes === 0 ? [] : [`${bytes(storage_bytes)} storage`];
  if (requests_per_minute === null && parallel === null && quota.length === 0) return "No limits";
  return [
    requests_per_minute === null ? "Unlimited requests" : `${count(requests_per_minute)} requests/min`,
    parallel === null ? "unlimited concurrency" : `${count(parallel)} concurrent`,
    ...quota,
  ].join(", ");
}
