import type { AgentSnapshot, RunErrorType, RunPhase, RunStatus } from "@gantry/wire";
import type { ChatMessage } from "../../engines/models/chat.ts";
import { type Fault, fault } from "../../kernel/errors.ts";
import type { Micros } from "../../kernel/money.ts";

export interface RunError {
  type: RunErrorType;
  message: string;
}

/**
 * The life of a run. Terminal is terminal.
 *
 *   pending ──claim──► running ──► done | error
 *                        │  ▲
 *                        ▼  └── answered, child ended
 *                      parked: waits for a confirmation or a child; no worker, no clock
 */
export interface Run {
  readonly id: string;
  readonly agentId: string;
  readonly revisionId: string;
  readonly ownerId: string;
  readonly userId: string;
  readonly keyId: string;
  /** From the root to the parent. */
  readonly ancestors: readonly string[];
  readonly status: RunStatus;
  readonly phase: RunPhase;
  readonly input: Readonly<Record<string, unknown>>;
  readonly output: Readonly<Record<string, unknown>> | null;
  readonly error: RunError | null;
  readonly maxCost: Micros | null;
  readonly timeoutMs: number;
  readonly maxSteps: number;
  readonly approve: readonly string[];
  readonly connectors: readonly string[];
  readonly baseUrl: string;
  readonly holder: string | null;
  readonly claim: number;
  /** How often it was written. */
  readonly writes: number;
  readonly deaths: number;
  readonly parked: boolean;
  readonly cancelRequested: boolean;
  readonly activeMs: number;
  readonly callId: string | null;
  /** What its next call is, where that is a summary; of an earlier call, if the id is not the same. */
  readonly summingUp: { call_id: string; covers: number; before_tokens: number } | null;
  readonly cutBefore: number;
  readonly steps: number;
  readonly lastEvent: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly cost: Micros;
  readonly price: Micros;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly completedAt: Date | null;
}

/** It, or a run below it, waits for its caller's answer. */
export const isAsking = ({ phase }: Pick<Run, "phase">): boolean => phase === "awaiting_confirmation";

export type StepKind = "plan" | "work" | "format" | "summary";

/** What the model said in one call. */
export type SaidMessage = Omit<Extract<ChatMessage, { role: "assistant" }>, "role"> & {
  /** Of a summary: the last step that it stands for. */
  covers?: number;
  /** Only where it was cut off: at this many tokens. The last call in it may then lack its end, and is never made. */
  cutAtTokens?: number;
};

export interface Step {
  n: number;
  kind: StepKind;
  message: SaidMessage;
  prompt: string | null;
}

export type CallKind = "read" | "write" | "agent" | "none";

export interface StoredCall {
  step: number;
  position: number;
  callId: string;
  tool: string;
  arguments: Record<string, unknown>;
  /** `none`: it could not be made, and was answered at once. */
  kind: CallKind;
  status: "asking" | "started" | "ended";
  childId: string | null;
  result: string | null;
  isError: boolean | null;
  /** The answer of its confirmation, where it asks. */
  answer: "pending" | "approved" | "denied" | "expired" | null;
  answerReason: string | null;
  answerHash: string | null;
  /** The tenant that its question showed, if it showed one. */
  shownTenant: string | null;
}

export interface RunEvent {
  n: number;
  type: string;
  data: Record<string, unknown>;
  createdAt: Date;
}

/** What a worker needs to work on a run: the run, what it executes and what happened so far. */
export interface RunHistory {
  run: Run;
  snapshot: AgentSnapshot;
  steps: Step[];
  calls: StoredCall[];
}

export function runNotFound(): Fault {
  return fault("not_found", "Run not found");
}
