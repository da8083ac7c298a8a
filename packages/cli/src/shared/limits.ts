import type { ChangeKeyBody } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { countOf, dollarsOf } from "../frame/moment.rules.ts";

type LimitFields = Pick<ChangeKeyBody, "monthly_limit" | "daily_limit" | "tokens_per_minute">;

/** Removes a limit, or an end. */
export const none = "none";

/** What `limitOptions` change. */
export function limitsOf({ text }: Pick<Context, "text">): LimitFields {
  const [month, day, tokens] = [text("monthly-limit"), text("daily-limit"), text("tokens-per-minute")];
  const dollars = (option: string, given: string) => (given === none ? null : dollarsOf(option, given));
  return {
    ...(month !== undefined && { monthly_limit: dollars("monthly-limit", month) }),
    ...(day !== undefined && { daily_limit: dollars("daily-limit", day) }),
    ...(tokens !== undefined && { tokens_per_minute: tokens === none ? null : countOf("tokens-per-minute", tokens) }),
  };
}
