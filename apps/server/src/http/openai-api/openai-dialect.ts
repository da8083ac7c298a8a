import type { ErrorType } from "@gantry/wire";
import type { DoorError, ErrorDialect } from "../doors/door-error.ts";

const codes: Partial<Record<ErrorType, string>> = {
  unauthorized: "invalid_api_key",
  insufficient_funds: "insufficient_quota",
  rate_limit: "rate_limit_exceeded",
  concurrent_requests_limit: "rate_limit_exceeded",
};

export const openaiDialect: ErrorDialect = { body: (error) => ({ error: openaiError(error) }) };

export function openaiError({ status, type, message, param }: DoorError) {
  return { message, type: typeOf(status), param, code: codes[type] ?? codeOf({ status, type, param }) };
}

function typeOf(status: number): string {
  if (status === 402) return "insufficient_quota";
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

function codeOf({ status, type, param }: Pick<DoorError, "status" | "type" | "param">): string {
  return status === 404 && param === "model" ? "model_not_found" : type;
}
