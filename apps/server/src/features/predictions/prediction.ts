import type { OutputValue, TokenUsage } from "../../engines/models/driver.ts";
import type { Fault } from "../../kernel/errors.ts";
import type { Micros } from "../../kernel/money.ts";
import type { Model } from "../models/index.ts";
import type { Fragment } from "./execution/fragments.rules.ts";

/**
 * The life of a prediction. Terminal is terminal: an ended prediction never changes.
 *
 *   (accepted) ──► waiting ──► running ──► ended: 200 done | 499 cancelled | 4xx/5xx failed
 *        └───────────────────────┘└─ the slot of the model is held exactly while it runs
 */
export type Route = "sync" | "stream" | "async" | "agent";

/** Output as it is stored and sent: files have become `s3://` addresses. */
export type StoredOutput = Record<string, Exclude<OutputValue, { kind: "file" }>>;

/** What a run came to, before it is written down. */
export type Outcome =
  | (Used & { kind: "done"; output: StoredOutput; inferenceMs: number })
  | (Used & {
      kind: "failed";
      fault: Fault;
      inferenceMs: number | undefined;
      /** What it had said and is not stored yet. */
      lastWords?: readonly Fragment[];
    });

interface Used {
  usage: TokenUsage | undefined;
  /** Told about a streamed run; undefined for any other. */
  streamDetails: Record<string, unknown> | undefined;
  price: Micros;
}

/** What did not start, or was lost with its node: nothing was used, nothing is charged. */
export function endedUnused(fault: Fault): Outcome {
  return { kind: "failed", fault, usage: undefined, streamDetails: undefined, inferenceMs: undefined, price: 0 };
}

export function statusOf(outcome: Outcome): number {
  return outcome.kind === "done" ? 200 : outcome.fault.status;
}

/** The output field that is delivered progressively, where the model has one. */
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
