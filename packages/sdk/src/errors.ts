import type { ErrorType } from "@gantry/wire";

/** Types of the agents platform, and types that only the client throws. */
type FurtherType =
  | "invalid_input"
  | "internal"
  | "upstream_error"
  | "unavailable"
  /** No response, or an incomplete one. */
  | "connection_error";

export type GantryErrorType = ErrorType | FurtherType | (string & {});

/** One fault of a request, or the reason of a failed prediction. */
export interface GantryIssue {
  /** Such as ["body", "prompt"]. */
  loc: readonly (string | number)[];
  message: string;
  type: GantryErrorType;
  ctx?: Record<string, unknown>;
  input?: unknown;
}

interface GantryErrorInit {
  status: number;
  type: GantryErrorType | undefined;
  message: string;
  retryable: boolean;
  requestId: string | undefined;
  body: unknown;
  issues?: readonly GantryIssue[] | undefined;
  details?: Readonly<Record<string, unknown>> | undefined;
  retryAfter?: number | undefined;
  predictionId?: string | undefined;
  cause?: unknown;
}

/** A failed call. Handle it by `type` and `status`; messages may change. */
export class GantryError extends Error {
  /** The HTTP status, or that of the prediction; 0 without a response. */
  readonly status: number;
  /** The type of the first issue. */
  readonly type: GantryErrorType | undefined;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  readonly requestId: string | undefined;
  readonly body: unknown;
  readonly issues: readonly GantryIssue[];
  /** Context of agents platform errors: agents that block a deletion, the effect of a write, an upstream status. */
  readonly details: Readonly<Record<string, unknown>> | undefined;
  /** Seconds to wait, from Retry-After. */
  readonly retryAfter: number | undefined;
  /** Undefined if no prediction was accepted, or the connection broke before its id arrived. */
  readonly predictionId: string | undefined;

  constructor(init: GantryErrorInit) {
    super(init.message, init.cause === undefined ? undefined : { cause: init.cause });
    this.name = "GantryError";
    this.status = init.status;
    this.type = init.type;
    this.retryable = init.retryable;
    this.requestId = init.requestId;
    this.body = init.body;
    this.issues = init.issues ?? [];
    this.details = init.details;
    this.retryAfter = init.retryAfter;
    this.predictionId = init.predictionId;
  }
}

/** No response, or an incomplete one with the given `headers`. */
export function connectionError(
  message: string,
  { cause, headers }: { cause?: unknown; headers?: Headers | undefined } = {},
): GantryError {
  return new GantryError({
    status: 0,
    type: "connection_error",
    message,
    retryable: true,
    ...idsIn(headers),
    body: undefined,
    cause,
  });
}

export function idsIn(headers: Headers | undefined): Pick<GantryErrorInit, "requestId" | "predictionId"> {
  return {
    requestId: headers?.get("x-request-id") ?? undefined,
    predictionId: headers?.get("x-prediction-id") ?? undefined,
  };
}

/** The request was not sent, and a retry would not help. */
export function unsendable(message: string): GantryError {
  return new GantryError({
    status: 0,
    type: "invalid_input",
    message,
    retryable: false,
    requestId: undefined,
    body: undefined,
  });
}
