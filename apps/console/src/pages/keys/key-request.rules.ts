import type { CreateKeyBody, KeyRecord } from "@gantry/sdk";

export interface LimitDraft {
  /** Dollars a month; empty: no limit. */
  limit: string;
  /** Dollars a day; empty: no limit. */
  dailyLimit: string;
  /** Tokens a minute; empty: no limit. */
  tokens: string;
}

export type LimitIssues = Partial<Record<keyof LimitDraft, string | undefined>>;

/** Fields of the API that the inputs of a draft set. */
export const limitFields = ["monthly_limit", "daily_limit", "tokens_per_minute"] as const;

export interface KeyDraft extends LimitDraft {
  name: string;
  /** Days from now, or `date`. */
  expiry: "never" | "7" | "30" | "90" | "365" | "date";
  /** For example 2026-12-31. */
  date: string;
  access: "all" | "some";
  models: readonly string[];
  keepInputs: boolean;
}

export const emptyDraft: KeyDraft = {
  name: "",
  expiry: "never",
  date: "",
  access: "all",
  models: [],
  limit: "",
  dailyLimit: "",
  tokens: "",
  keepInputs: true,
};

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
    ...limitsOfDraft(draft),
    ...(!draft.keepInputs && { keep_inputs: false }),
  };
}

/** Checks what the form can know; the API checks the rest. */
export function draftIssues(draft: KeyDraft): Partial<Record<"date" | "models", string>> & LimitIssues {
  return {
    ...(draft.expiry === "date" && draft.date === "" && { date: "Choose the last day on which the key works" }),
    ...(draft.access === "some" && draft.models.length === 0 && { models: "Add at least one model" }),
    ...limitIssues(draft),
  };
}

export function limitDraftOf({
  monthly_limit,
  daily_limit,
  tokens_per_minute,
}: Pick<KeyRecord, (typeof limitFields)[number]>): LimitDraft {
  const [limit, dailyLimit, tokens] = [monthly_limit, daily_limit, tokens_per_minute].map((value) => value ?? "");
  return { limit: String(limit), dailyLimit: String(dailyLimit), tokens: String(tokens) };
}

export function limitsOfDraft({ limit, dailyLimit, tokens }: LimitDraft) {
  const numberOf = (text: string) => (text.trim() === "" ? null : Number(text));
  return { monthly_limit: numberOf(limit), daily_limit: numberOf(dailyLimit), tokens_per_minute: numberOf(tokens) };
}

const isAmount = (text: string): boolean => Number.isFinite(Number(text)) && Number(text) >= 0;

export function limitIssues({ limit, dailyLimit, tokens }: LimitDraft): LimitIssues {
  const amount = "Must be an amount in dollars, 0 or more";
  const isCount = tokens.trim() === "" || (Number.isInteger(Number(tokens)) && Number(tokens) >= 1);
  return {
    ...(!isAmount(limit) && { limit: amount }),
    ...(!isAmount(dailyLimit) && { dailyLimit: amount }),
    ...(!isCount && { tokens: "Must be a whole number, 1 or more" }),
  };
}

/** What the form found, then what the API found. */
export function limitErrors(own: LimitIssues, of: Partial<Record<(typeof limitFields)[number], string>>): LimitIssues {
  return {
    limit: own.limit ?? of.monthly_limit,
    dailyLimit: own.dailyLimit ?? of.daily_limit,
    tokens: own.tokens ?? of.tokens_per_minute,
  };
}
