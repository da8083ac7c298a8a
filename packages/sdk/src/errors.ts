import type { ErrorType } from "@gantry/wire";

/** The categories of the agents platform that the other surfaces do not have, and those that only a client sees. */
type FurtherType =
  | "invalid_input"
  | "internal"
  | "upstream_error"
  | "unavailable"
  /** No answer, or none that could be read to its end. */
  | "connection_error";

export type GantryErrorType = ErrorType | FurtherType | (string & {});

/** One thing that is wrong with a request, or why a prediction failed. */
export interface GantryIssue {
  /** As ["body", "prompt"]. */
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

/** An answer that was no success, of whichever surface. Decide by `type` and `status`; messages may change. */
export class GantryError extends Error {
  /** The HTTP status, or that of the prediction; 0 when there was no answer, or nothing was asked. */
  readonly status: number;
  /** The machine-readable category: that of the first issue where there are several. */
  readonly type: GantryErrorType | undefined;
  /** Whether the same request might succeed later. */
  readonly retryable: boolean;
  readonly requestId: string | undefined;
  readonly body: unknown;
  readonly issues: readonly GantryIssue[];
  /** What else the agents platform tells: the agents that are in the way, what a write would do, a tenant's status. */
  readonly details: Readonly<Record<string, unknown>> | undefined;
  /** Seconds that the service asks to wait. */
  readonly retryAfter: number | undefined;
  /** Of the prediction; undefined when none was accepted, or the connection broke before the service had named it. */
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

/** There was no answer, or it broke off: then its `headers` had come, and tell of what it was. */
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

/** What the headers of an answer name. */
export function idsIn(headers: Headers | undefined): Pick<GantryErrorInit, "requestId" | "predictionId"> {
  return {
    requestId: headers?.get("x-request-id") ?? undefined,
    predictionId: headers?.get("x-prediction-id") ?? undefined,
  };
}

/** It was not sent, and would not be at another time. */
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
