import type { AgentSnapshot, Door, RunErrorType, RunPhase, RunStatus } from "@gantry/wire";
import type { ChatMessage, ContentPart } from "../../engines/models/chat.ts";
import { type Fault, fault } from "../../kernel/errors.ts";
import type { Micros } from "../../kernel/money.ts";

export interface RunError {
  type: RunErrorType;
  message: string;
}

/**
 * The life of a run. Terminal states never change.
 *
 *   pending ──claim──► running ──► done | error
 *                        │  ▲
 *                        ▼  └── confirmed, child ended
 *                      parked: waits for a confirmation or a child, without a worker or active time
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
  /** The protocol by which the run came; null for the agents API. */
  readonly door: Door | null;
  /** A reader follows the events, or a client of a door waits for the text. */
  readonly isFollowed: boolean;
  /** The schedule or trigger that created the run. */
  readonly sourceId: string | null;
  /** Runs of one sequence run one at a time, in the order of their ids. */
  readonly sequence: string | null;
  /** The conversation that the run belongs to, of its caller. */
  readonly threadId: string | null;
  readonly holder: string | null;
  readonly claim: number;
  readonly writes: number;
  readonly deaths: number;
  readonly parked: boolean;
  readonly cancelRequested: boolean;
  readonly activeMs: number;
  readonly callId: string | null;
  /** Set if the call with this id is a summary. */
  readonly summingUp: { call_id: string; covers: number; before_tokens: number; turns?: string } | null;
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
  /** The traceparent of the request. */
  readonly trace: string | null;
}

/** The run or a descendant waits for a confirmation. */
export const isAsking = ({ phase }: Pick<Run, "phase">): boolean => phase === "awaiting_confirmation";

export type StepKind = "plan" | "work" | "format" | "summary";

export type ModelMessage = Omit<Extract<ChatMessage, { role: "assistant" }>, "role"> & {
  /** Of a summary: the last step that it replaces. */
  covers?: number;
  /** Of a summary of earlier turns: the last run that it replaces. */
  turns?: string;
  /** Set if the answer was cut off at this many tokens. Its last tool call may be incomplete and is never made. */
  cutAtTokens?: number;
};

export interface Step {
  n: number;
  kind: StepKind;
  message: ModelMessage;
  prompt: string | null;
}

export type CallKind = "read" | "write" | "agent" | "none";

export interface StoredCall {
  step: number;
  position: number;
  callId: string;
  tool: string;
  arguments: Record<string, unknown>;
  /** `none`: refused without being made. */
  kind: CallKind;
  status: "asking" | "started" | "ended";
  childId: string | null;
  result: string | null;
  isError: boolean | null;
  /** The state of its confirmation, if it needs one. */
  answer: "pending" | "approved" | "denied" | "expired" | null;
  answerReason: string | null;
  answerHash: string | null;
  /** The tenant that the confirmation showed, if any. */
  shownTenant: string | null;
}

export interface RunEvent {
  n: number;
  type: string;
  data: Record<string, unknown>;
  createdAt: Date;
}

/** Everything that a worker needs to continue a run. */
export interface RunHistory {
  run: Run;
  /** Images of the input, which its messages only mention. */
  images: readonly ContentPart[];
  snapshot: AgentSnapshot;
  steps: Step[];
  calls: StoredCall[];
}

export function runNotFound(): Fault {
  return fault("not_found", "Run not found");
}
