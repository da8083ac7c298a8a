import type { Door, Pricing } from "@gantry/wire";
import type { OutputValue, TokenUsage } from "../../engines/models/driver.ts";
import { type Fault, fault, type Issue } from "../../kernel/errors.ts";
import type { Micros } from "../../kernel/money.ts";
import type { Bounds, Prices } from "../billing/index.ts";
import type { Model } from "../models/index.ts";
import type { KeptRequest } from "./kept/kept-input.rules.ts";

/**
 * The life of a prediction. An ended prediction never changes.
 *
 *   (accepted) ──► waiting ──► running ──► ended: 200 done | 499 cancelled | 4xx/5xx failed
 *        └───────────────────────┘└─ uses a slot of the model exactly while it runs
 */
export type Route = "sync" | "stream" | "async" | "agent";

export interface ArrivingPrediction {
  id: string;
  userId: string;
  keyId: string;
  modelId: string;
  modelName: string;
  route: Route;
  highPriority: boolean;
  runId?: string | undefined;
  door?: Door | undefined;
  reservation: Micros;
  /** Set for keys with a limit of tokens: what the prediction may use, and the limit. */
  tokens?: { reserved: number; limit: number } | undefined;
  /** The id was known before, so a prediction may have been accepted under it: then this one is refused. */
  promised?: boolean;
  /** Refused unless the balance and the key's month cover the whole reservation: its payer did not start it. */
  mustBeCovered?: boolean;
  /** The user is not the owner of the key, and pays for calls of that key's run. */
  sponsored?: boolean;
  queueSeconds: number;
  queued?: QueuedInput | undefined;
  /** For queued predictions: this node has reserved a slot, and runs the prediction if it starts. */
  hasSlot?: boolean;
  /** `look` only checks the limits; `look_and_count` also counts as a request. */
  purpose: "run" | "look" | "look_and_count";
  /**
   * The client waits here and no repeat asks for the result, so the row may be lost if the database's machine dies before
   * it is on disk. The client then receives an error.
   */
  mayBeLost?: boolean;
}

/** Everything a worker needs to run a queued prediction later. */
export interface QueuedInput {
  /** JSON texts. */
  input: string;
  pricing: string;
  bounds: string;
  baseUrl: string;
  webhookDestination?: string;
  /** Sealed, as base64. */
  webhookTarget?: string;
}

/** A queued prediction that this node has claimed. */
export interface ClaimedJob {
  id: string;
  claim: number;
  userId: string;
  modelId: string;
  modelName: string;
  input: Record<string, unknown>;
  /** The prices of listed backends are in `backends`. */
  pricing: Pricing & Pick<Prices, "backends">;
  /** With what is kept of the request. Null if a server from before the baseline migration accepted it. */
  bounds: (Bounds & { request?: KeptRequest; kept?: Record<string, unknown> }) | null;
  acceptedAt: string;
  waitedMs: number;
  hasWebhook: boolean;
  trace: string | null;
}

/** A worker slot that is reserved while a prediction is being accepted. */
export interface SlotReservation {
  begin(job: ClaimedJob): void;
  /** Must be called if no job begins. */
  giveBack(): void;
}

/** Worker slots that a statement frees by ending jobs and may fill with claimed ones. */
export interface FreedSlots {
  slots: number;
  /** Must be called, with the claimed jobs or an empty list. */
  use(jobs: readonly ClaimedJob[]): void;
}

export interface GrantedSlot {
  id: string;
  holder: string;
  claim: number;
}

export type Refusal =
  | "key_gone"
  | "model_retired"
  | "model_inactive"
  | "no_funds"
  | "rate_limit"
  | "token_limit"
  | "too_many_tokens"
  | "too_many_parallel"
  | "run_lost"
  | "accepted_before";

export interface Decision {
  verdict: "run" | "wait" | Refusal;
  rateLimit: number | null;
  rateRemaining: number | null;
  rateResetMs: number | null;
  retryAfterMs: number | null;
}

export interface Ending {
  id: string;
  claim: number;
  status: number;
  inferenceMs: number | undefined;
  /** JSON texts. */
  output: string | undefined;
  error: string | undefined;
  inputTokens: number | undefined;
  outputTokens: number | undefined;
  cachedTokens: number | undefined;
  cacheWriteTokens: number | undefined;
  streamDetails: string | undefined;
  price: Micros;
  backend?: string | undefined;
  /** See `keptText`. Undefined for queued predictions, whose rows have it. */
  kept?: string | undefined;
}

/** A piece of a transcript; `seq` counts from 1 in each claim. */
export interface Fragment {
  claim: number;
  seq: number;
  field: string;
  /** Escaped by `storableText`. */
  fragment: string;
}

export interface StoredIssue extends Issue {
  /** On the first issue, if it differs from the error table. */
  retryable?: boolean;
}

/** Output as it is stored and sent: files have become `s3://` addresses. */
export type StoredOutput = Record<string, Exclude<OutputValue, { kind: "file" }>>;

export type Outcome =
  | (Used & { kind: "done"; output: StoredOutput; inferenceMs: number })
  | (Used & {
      kind: "failed";
      fault: Fault;
      inferenceMs: number | undefined;
      /** The part of the transcript that is not stored yet. */
      unsentFragments?: readonly Fragment[];
    });

interface Used {
  usage: TokenUsage | undefined;
  /** Undefined unless the model streams. */
  streamDetails: Record<string, unknown> | undefined;
  price: Micros;
  /** The name of the backend that answered, or that was tried last. Empty or undefined if none was tried. */
  backend?: string;
}

/** Reasons to stop a prediction before its own end, passed on as the abort signal's `reason`. */
export const stopReasons = {
  left: () => fault("generation_cancelled", "The client went away"),
  cancelled: () => fault("generation_cancelled", "The prediction was cancelled"),
  /** A failure, not a cancellation: it costs nothing and may be retried. */
  shutdown: () => fault("service_unavailable", "The server is shutting down"),
  timeout: () => fault("generation_timeout", "The prediction took longer than the model's time limit"),
  lost: () => fault("generation_cancelled", "The prediction is no longer this node's to run"),
  queueTimeout: () => fault("generation_timeout", "The prediction waited longer than the model's queue limit"),
} as const;

export type StopReason = keyof typeof stopReasons;

/** The outcome of a prediction that did not start or was lost with its node. Nothing is charged. */
export function endedUnused(fault: Fault): Outcome {
  return { kind: "failed", fault, usage: undefined, streamDetails: undefined, inferenceMs: undefined, price: 0 };
}

export function statusOf(outcome: Outcome): number {
  return outcome.kind === "done" ? 200 : outcome.fault.status;
}

/** The output field that is delivered progressively, if the model has one. */
export function streamedField(model: Model): string | undefined {
  return Object.entries(model.manifest.output.properties).find(([, field]) => field.isStream)?.[0];
}

/** The StreamDetails record of the specification. */
export function streamDetailsOf(model: Model, usage: TokenUsage | undefined): Record<string, unknown> | undefined {
  if (streamedField(model) === undefined) return undefined;
  const size = model.manifest.model_size_in_billions;
  return {
    input_tokens: usage?.inputTokens ?? 0,
    output_tokens: usage?.outputTokens ?? 0,
    ...(usage?.cachedTokens !== undefined && { cached_tokens: usage.cachedTokens }),
    ...(usage?.cacheWriteTokens !== undefined && { cache_write_tokens: usage.cacheWriteTokens }),
    ...(usage?.googleUsage && { google_usage: usage.googleUsage }),
    ...(size !== undefined && { model_size_in_billions: size }),
    ...(usage?.estimated && { estimated: true }),
  };
}
