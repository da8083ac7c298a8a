import type { InputState, PredictionMode, PredictionStatus } from "@gantry/wire";
import type { Issue } from "../../kernel/errors.ts";
import type { Micros } from "../../kernel/money.ts";

export interface PredictionFilter {
  model?: string | undefined;
  status?: PredictionStatus | undefined;
  keyId?: string | undefined;
  mode?: PredictionMode | undefined;
  agentId?: string | undefined;
  runId?: string | undefined;
  q?: string | undefined;
}

/** The figures of a prediction, live or ended. */
export interface PredictionRow {
  id: string;
  modelName: string;
  route: PredictionMode;
  /** Null until it ends. */
  status: number | null;
  createdAt: Date;
  startedAt: Date | null;
  /** With microseconds, because lists continue from it. */
  endedAt: string | null;
  inferenceMs: number | null;
  inputTokens: number | null;
  outputTokens: number | null;
  cachedTokens: number | null;
  cacheWriteTokens: number;
  price: Micros | null;
  reserved: Micros;
  door: string | null;
  backend: string | null;
  keyId: string | null;
  runId: string | null;
}

/** Called by another user's run and paid by this one, who must see nothing of that run. */
export function isSponsored({ route, keyId }: Pick<PredictionRow, "route" | "keyId">): boolean {
  return route === "agent" && keyId === null;
}

export function statusOf({ status, startedAt }: Pick<PredictionRow, "status" | "startedAt">): PredictionStatus {
  if (status === null) return startedAt === null ? "waiting" : "running";
  if (status === 200) return "succeeded";
  return status === 499 ? "cancelled" : "failed";
}

interface Named {
  id: string;
  name: string;
}

export interface ListedPrediction extends PredictionRow {
  key: Named | null;
  agent: Named | null;
  /** The batch that it is a line of. */
  batchId: string | null;
  previewOfInput: string | null;
  previewOfOutput: string | null;
  file: { url: string; contentType: string; link: string } | null;
}

export interface ShownPrediction extends ListedPrediction {
  requestId: string | null;
  traceId: string | null;
  input: Record<string, unknown> | null;
  inputState: InputState;
  isTruncated: boolean;
  output: Record<string, unknown> | null;
  files: Record<string, unknown>;
  error: readonly Issue[] | null;
  text: string | null;
  streamDetails: Record<string, unknown> | null;
  webhook: { id: string; status: "pending" | "delivered" | "failed" | "gone" } | null;
}
