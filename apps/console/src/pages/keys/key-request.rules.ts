import type { CreateKeyBody } from "@gantry/sdk";

export interface KeyDraft {
  name: string;
  /** Days from now, or `date`. */
  expiry: "never" | "7" | "30" | "90" | "365" | "date";
  /** For example 2026-12-31. */
  date: string;
  access: "all" | "some";
  models: readonly string[];
  /** Dollars; empty: no limit. */
  limit: string;
}

export const emptyDraft: KeyDraft = { name: "", expiry: "never", date: "", access: "all", models: [], limit: "" };

const dayMs = 86_400_000;

function expiryOf({ expiry, date }: KeyDraft, now: Date): string | null {
  if (expiry === "never") return null;
  // Includes the chosen day.
  if (expiry === "date") return `${date}T23:59:59Z`;
  return new Date(now.getTime() + Number(expiry) * dayMs).toISOString();
}

export function keyRequest(draft: KeyDraft, now: Date): CreateKeyBody {
  return {
    name: draft.name.trim(),
    expires_at: expiryOf(draft, now),
    models: draft.access === "all" ? null : [...draft.models],
    monthly_limit: draft.limit.trim() === "" ? null : Number(draft.limit),
  };
}

/** Checks what the form can know; the API checks the rest. */
export function draftIssues(draft: KeyDraft): Partial<Record<"date" | "models" | "limit", string>> {
  return {
    ...(draft.expiry === "date" && draft.date === "" && { date: "Choose the last day on which the key works" }),
    ...(draft.access === "some" && draft.models.length === 0 && { models: "Add at least one model" }),
    ...(!(Number(draft.limit) >= 0) && { limit: "Must be an amount in dollars, 0 or more" }),
  };
}
