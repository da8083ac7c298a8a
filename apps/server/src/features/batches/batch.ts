import type { Fault } from "../../kernel/errors.ts";
import type { Caller, Scope } from "../accounts/index.ts";
import type { AsyncRequest, StoredOutput } from "../predictions/index.ts";

/** The routes that the lines of a batch may call. */
export type BatchEndpoint = "/v1/chat/completions" | "/v1/embeddings" | "/v1/responses";

/**
 *   validating ──► in_progress ──► finalizing ──► completed | expired
 *        └─► failed     └──► cancelling ──┴──────► cancelled
 */
export type BatchStatus =
  | "validating"
  | "failed"
  | "in_progress"
  | "finalizing"
  | "completed"
  | "expired"
  | "cancelling"
  | "cancelled";

/** Why the lines of a batch that have not run do not run any more. */
export const stopReasons = {
  batch_expired: "This request could not be executed before the completion window expired.",
  batch_cancelled: "This request was not executed, because the batch was cancelled.",
  insufficient_quota:
    "This request was not executed, because the balance or a budget of the key was used up. Add credit, then send it in another batch.",
  invalid_api_key:
    "This request was not executed, because the API key that created the batch is no longer valid. Send it in another batch with another key.",
  input_file_not_found: "This request was not executed, because the input file no longer exists.",
} as const;
export type StopCode = keyof typeof stopReasons;

/** A problem of the input file. */
export interface LineError {
  code: string;
  message: string;
  param: string | null;
  line: number | null;
}

export interface Batch {
  id: string;
  userId: string;
  keyId: string;
  endpoint: BatchEndpoint;
  inputFileId: string;
  metadata: Record<string, string> | null;
  baseUrl: string;
  /** False: inputs of its predictions are not kept with their results. */
  keepsInputs: boolean;
  status: BatchStatus;
  errors: readonly LineError[] | null;
  total: number;
  completed: number;
  failed: number;
  outputFileId: string | null;
  errorFileId: string | null;
  createdAt: Date;
  inProgressAt: Date | null;
  expiresAt: Date;
  finalizingAt: Date | null;
  cancellingAt: Date | null;
  endedAt: Date | null;
}

/** A batch that this node works on, as of its claim. */
export interface ClaimedBatch extends Batch {
  claim: number;
  stopCode: StopCode | null;
  nextLine: number;
  nextByte: number;
}

/** A line that becomes, or is, a prediction. */
export interface FedLine {
  line: number;
  customId: string;
  predictionId: string;
  startByte: number;
  bytes: number;
}

/** A request of a line, ready to be queued. */
export type PreparedLine = Pick<AsyncRequest, "model" | "input" | "door" | "origin"> & {
  /** Stores what must exist before the prediction. */
  store?(): Promise<void>;
  /** Removes it if the prediction was refused. */
  discard?(): Promise<void>;
};

/** The protocol whose requests the lines are. */
export interface BatchProtocol {
  /** Fields of a request that its answer needs. */
  askedOf(endpoint: BatchEndpoint, body: Record<string, unknown>): Record<string, unknown>;
  /** Rejects with a fault that names the field, if the request is invalid. */
  prepare(line: LineRequest): Promise<PreparedLine>;
  /** The body of the answer, as JSON. Undefined if its content was deleted. */
  answer(line: LineAnswer): Promise<string | undefined>;
  /** How the protocol writes a failure. */
  failure(fault: Fault): { status: number; body: Record<string, unknown> };
}

export interface LineRequest {
  endpoint: BatchEndpoint;
  body: Record<string, unknown>;
  batchId: string;
  predictionId: string;
  /** Whether the batch allows to keep its input. */
  keepsInput: boolean;
  caller: Caller;
  signal: AbortSignal;
}

export interface LineAnswer {
  endpoint: BatchEndpoint;
  asked: Record<string, unknown>;
  scope: Scope;
  predictionId: string;
  createdAt: Date;
  output: StoredOutput;
  streamDetails: Record<string, unknown> | null;
}
