import type { CreateKeyBody } from "@gantry/sdk";

/** What a form for a new key holds. */
export interface KeyDraft {
  name: string;
  /** Days from now, or a day of the caller's choice. */
  expiry: "never" | "7" | "30" | "90" | "365" | "date";
  /** As 2026-12-31. */
  date: string;
  reach: "all" | "some";
  models: readonly string[];
  /** Dollars as they were typed; empty: no limit. */
  limit: string;
}

export const emptyDraft: KeyDraft = { name: "", expiry: "never", date: "", reach: "all", models: [], limit: "" };

const dayMs = 86_400_000;

function expiryOf({ expiry, date }: KeyDraft, now: Date): string | null {
  if (expiry === "never") return null;
  // To the end of that day, as one says it.
  if (expiry === "date") return `${date}T23:59:59Z`;
  return new Date(now.getTime() + Number(expiry) * dayMs).toISOString();
}

export function keyRequest(draft: KeyDraft, now: Date): CreateKeyBody {
  return {
    name: draft.name.trim(),
    expires_at: expiryOf(draft, now),
    models: draft.reach === "all" ? null : [...draft.models],
    monthly_limit: draft.limit.trim() === "" ? null : Number(draft.limit),
  };
}

/** What keeps it from being sent at all, by field; the rest is the service's to say. */
export function draftIssues(draft: KeyDraft): Partial<Record<"date" | "models" | "limit", string>> {
  return {
    ...(draft.expiry === "date" && draft.date === "" && { date: "Choose the last day on which it works" }),
    ...(draft.reach === "some" && draft.models.length === 0 && { models: "Add one model at least" }),
    ...(!(Number(draft.limit) >= 0) && { limit: "Must be a number of dollars, 0 or more" }),
  };
}
