import type { ErrorType } from "@gantry/wire";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { sentenceAboutRequest } from "../../features/predictions/index.ts";
import type { Fault, Loc } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { messageOfIssues } from "../foundation/issue-message.rules.ts";
import { toFault } from "../foundation/to-fault.ts";

/** An error before it is written in the dialect of a door. */
export interface DoorError {
  status: number;
  type: ErrorType;
  message: string;
  /** The field of the request, as `messages[0].content`. */
  param: string | null;
  /** Facts about the error for programs. */
  details: Record<string, unknown> | undefined;
  shouldRetry: boolean;
  retryAfterSeconds: number | undefined;
}

/** How a protocol writes errors. */
export interface ErrorDialect {
  /** Headers of every answer. */
  headers?(requestId: string): Record<string, string>;
  body(error: DoorError, requestId: string): Record<string, unknown>;
}

/** Types with another status than on Gantry's own routes. */
const statuses: Partial<Record<ErrorType, number>> = { insufficient_funds: 402, storage_quota_exceeded: 413 };

export function doorErrorOf(failure: Fault): DoorError {
  const { type, issues, retryAfterSeconds } = failure;
  const sentence = sentenceAboutRequest(failure);
  const status = sentence === undefined ? statusOf(failure) : 400;
  const isRetryable = failure.retryable && status !== 409 && sentence === undefined;
  return {
    status,
    type,
    message: sentence ?? messageOf(failure),
    param: paramOf(issues[0].loc),
    details: issues[0].ctx,
    shouldRetry: isRetryable,
    retryAfterSeconds: retryAfterSeconds ?? (isRetryable && status === 503 ? 1 : undefined),
  };
}

function messageOf({ issues, cause }: Fault): string {
  if (isTooLong(cause)) return "The body is larger than 32 MB.";
  return issues.length > 1 ? messageOfIssues(issues) : issues[0].msg;
}

function statusOf({ type, status, cause }: Fault): number {
  if (isTooLong(cause)) return 413;
  return statuses[type] ?? (status === 422 ? 400 : status);
}

function isTooLong(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && cause.code === "FST_ERR_CTP_BODY_TOO_LARGE";
}

function paramOf([where, ...steps]: Loc): string | null {
  if (where === "header" || steps.length === 0) return null;
  return steps.reduce<string>((path, step) => {
    if (typeof step === "number") return `${path}[${step}]`;
    return path === "" ? step : `${path}.${step}`;
  }, "");
}

export function doorErrorHeaders(failure: Fault, error: DoorError): Record<string, string> {
  return {
    ...failure.headers,
    ...(error.status !== 401 && { "x-should-retry": String(error.shouldRetry) }),
    ...(error.retryAfterSeconds !== undefined && {
      "retry-after": String(Math.max(1, Math.ceil(error.retryAfterSeconds))),
    }),
  };
}

/** Applies to the routes of a plugin. */
export function useDoorDialect(
  app: FastifyInstance,
  log: Log,
  dialectOf: (request: FastifyRequest) => ErrorDialect,
): void {
  app.setErrorHandler((thrown: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const failure = toFault(thrown);
    const error = doorErrorOf(failure);
    logServerError(log, request, failure);
    const dialect = dialectOf(request);
    return (
      reply
        .code(error.status)
        // Requests without a valid key do not reach the hooks of the plugin.
        .headers(dialect.headers?.(request.id) ?? {})
        .headers(doorErrorHeaders(failure, error))
        .send(dialect.body(error, request.id))
    );
  });
}

export function logServerError(log: Log, request: FastifyRequest, failure: Fault): void {
  if (!failure.isServerError || sentenceAboutRequest(failure) !== undefined) return;
  log.error({ request_id: request.id, method: request.method, err: failure.cause ?? failure }, failure.message);
}
