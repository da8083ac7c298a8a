import type { SessionKey } from "../api/session.ts";
import { money } from "../ui/format.ts";

export type KeyLimits = Pick<
  SessionKey,
  "models" | "monthly_limit" | "daily_limit" | "tokens_per_minute" | "isPlainMember"
>;

/**
 * Keys that may open a page: all, keys not confined to models, or keys without any limit. `managers` are the last, without
 * plain members of a team. The console hides a page from keys that the API would refuse.
 */
export type OpenTo = "any key" | "unconfined keys" | "unlimited keys" | "managers";

export function mayOpen(key: KeyLimits, openTo: OpenTo): boolean {
  if (openTo === "any key") return true;
  if (openTo === "managers" && key.isPlainMember) return false;
  return key.models === null && (openTo === "unconfined keys" || numbersOf(key).length === 0);
}

/** Keys that see their own usage only. It is added up from rows, so that their charts cover a month at most. */
export const seesOwnUsageOnly = ({ models, isPlainMember }: KeyLimits): boolean =>
  models !== null || isPlainMember === true;

/** The limits in numbers. */
export function numbersOf({ monthly_limit, daily_limit, tokens_per_minute }: Omit<KeyLimits, "models">): string[] {
  return [
    ...(monthly_limit === null ? [] : [`${money(monthly_limit)} per month`]),
    ...(daily_limit === null ? [] : [`${money(daily_limit)} per day`]),
    ...(tokens_per_minute === null ? [] : [`${tokens_per_minute.toLocaleString("en-US")} tokens per minute`]),
  ];
}

export function limitsOf({ models, ...numbers }: KeyLimits): string[] {
  return [
    ...(models === null ? [] : [models.length === 0 ? "No models" : `Only ${models.join(", ")}`]),
    ...numbersOf(numbers),
  ];
}
