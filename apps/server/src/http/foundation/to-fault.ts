import { Fault, fault } from "../../kernel/errors.ts";
import { isUnstorable, poisonousName, poisonousNameText, tooManyValues, tooManyValuesText } from "./parse-json.ts";

interface ThrownError extends Error {
  code?: string;
}

/** SQLSTATEs of a deadlock and of a lock that was not free in time. PostgreSQL has rolled the transaction back. */
const lockFailures = ["40P01", "55P03"];

/**
 * Turns anything thrown into a fault. Errors of the framework about a body become a 4xx that says what to do; anything
 * unexpected becomes a bare 500, with the cause for the log.
 */
export function toFault(thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown;
  if (isUnstorable(thrown)) return fault("json_invalid", thrown.message, { loc: thrown.loc, cause: thrown });
  const error = thrown as ThrownError | undefined;
  // The error of node:http for an aborted request.
  if (error?.code === "ECONNRESET" && error.message === "aborted") {
    return fault("request_invalid", "The client closed the connection before the body was complete", { cause: thrown });
  }
  if (error instanceof Error && lockFailures.includes(error.code ?? "")) {
    return fault("service_unavailable", "Other requests are changing the same data. Try again.", { cause: thrown });
  }
  switch (error?.code) {
    case "FST_ERR_CTP_INVALID_JSON_BODY":
      return fault("json_invalid", "The body is not valid JSON", { cause: thrown });
    case poisonousName:
      return fault("json_invalid", `In the body ${poisonousNameText}`, { cause: thrown });
    case tooManyValues:
      return fault("sequence_too_long", tooManyValuesText, { cause: thrown });
    case "FST_ERR_CTP_EMPTY_JSON_BODY":
      return fault("json_invalid", "The body is empty. Send JSON.", { cause: thrown });
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return fault("json_invalid", "The body must be JSON. Send the content type application/json.", { cause: thrown });
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return fault("sequence_too_long", "The body is too large", { cause: thrown });
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return fault("json_invalid", "The length of the body does not match Content-Length", { cause: thrown });
    case "FST_ERR_BAD_URL":
    case "FST_ERR_MAX_PARAM_LENGTH":
      return fault("not_found", "Not found", { cause: thrown });
    default:
      return fault("internal_server_error", "Internal server error", { cause: thrown });
  }
}
