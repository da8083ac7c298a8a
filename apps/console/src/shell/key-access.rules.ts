import type { SessionKey } from "../api/session.ts";
import { money } from "../ui/format.ts";

export type KeyLimits = Pick<SessionKey, "models" | "monthly_limit">;

/**
 * Keys that may open a page: all, keys not confined to models, or keys without any limit. The console hides a page from
 * keys that the API would refuse.
 */
export type OpenTo = "any key" | "unconfined keys" | "unlimited keys";

export function mayOpen({ models, monthly_limit }: KeyLimits, openTo: OpenTo): boolean {
  if (openTo === "any key") return true;
  return models === null && (openTo === "unconfined keys" || monthly_limit === null);
}

export function limitsOf({ models, monthly_limit }: KeyLimits): string[] {
  return [
    ...(models === null ? [] : [models.length === 0 ? "No models" : `Only ${models.join(", ")}`]),
    ...(monthly_limit === null ? [] : [`${money(monthly_limit)} per month`]),
  ];
}
