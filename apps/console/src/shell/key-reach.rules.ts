import type { SessionKey } from "../api/session.ts";
import { money } from "../ui/format.ts";

export type Reach = Pick<SessionKey, "models" | "monthly_limit">;

/**
 * Which keys a place is open to: all, those that are not limited to models, or only those with no limit at all. The
 * service refuses the others; the console does not show them the place.
 */
export type OpenTo = "any key" | "unconfined keys" | "unlimited keys";

export function mayOpen({ models, monthly_limit }: Reach, openTo: OpenTo): boolean {
  if (openTo === "any key") return true;
  return models === null && (openTo === "unconfined keys" || monthly_limit === null);
}

/** What a key is limited to, each in a few words; nothing of one that may do all that its user may. */
export function limitsOf({ models, monthly_limit }: Reach): string[] {
  return [
    ...(models === null ? [] : [models.length === 0 ? "no models" : `only ${models.join(", ")}`]),
    ...(monthly_limit === null ? [] : [`at most ${money(monthly_limit)} a month`]),
  ];
}
