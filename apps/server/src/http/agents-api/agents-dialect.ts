import { type AgentErrorType, agentErrors, type ErrorType, errorTable } from "@gantry/wire";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { errorHeaders } from "../../kernel/error-body.ts";
import type { Fault } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { messageOfIssues } from "../foundation/issue-message.rules.ts";
import { toFault } from "../foundation/to-fault.ts";

/** Types with another name here; every other fault about a field is `invalid_input`. */
const translations: Partial<Record<ErrorType, AgentErrorType>> = {
  concurrent_requests_limit: "rate_limit",
  internal_server_error: "internal",
  downstream_service_error: "upstream_error",
  downstream_service_unavailable: "upstream_error",
  service_unavailable: "unavailable",
};

function typeOf({ type }: Fault): AgentErrorType {
  if (type in agentErrors) return type as AgentErrorType;
  const status: number = errorTable[type].status;
  return translations[type] ?? (status === 422 || status === 400 ? "invalid_input" : "internal");
}

/**
 * `{error: {type, code, message, details?}}`; `details` lists every fault of the input, or the context of the one
 * fault.
 */
export function agentErrorBody(failure: Fault): { status: number; body: Record<string, unknown> } {
  const type = typeOf(failure);
  const [first] = failure.issues;
  const isAboutInput = type === "invalid_input";
  const message = isAboutInput ? messageOfIssues(failure.issues) : first.msg;
  const details = isAboutInput
    ? failure.issues.map(({ loc, msg, type: reason, ctx }) => ({ loc, message: msg, reason, ...(ctx && { ctx }) }))
    : first.ctx;
  return {
    status: agentErrors[type],
    body: { error: { type, code: type, message, ...(details !== undefined && { details }) } },
  };
}

/** Applies to the routes of a plugin and to unknown paths under its prefix. */
export function useAgentsDialect(app: FastifyInstance, log: Log): void {
  const write = (thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const failure = toFault(thrown);
    const { status, body } = agentErrorBody(failure);
    if (status >= 500) {
      log.error({ request_id: request.id, method: request.method, err: failure.cause ?? failure }, failure.message);
    }
    return reply.code(status).headers(errorHeaders(failure)).header("x-request-id", request.id).send(body);
  };
  app.setErrorHandler(write);
  app.dialects.set(app.prefix, write);
}
