import { Fault, fault } from "../../kernel/errors.ts";
import { isUnstorable, poisonousName, poisonousNameText } from "./parse-json.ts";

interface ThrownError extends Error {
  code?: string;
}

/**
 * Turns whatever was thrown into a fault. What the framework throws about a body becomes a 4xx that says what to do;
 * everything that nobody expected becomes a bare 500 with the cause kept for the log.
 */
export function toFault(thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown;
  if (isUnstorable(thrown)) return fault("json_invalid", thrown.message, { loc: thrown.loc, cause: thrown });
  const error = thrown as ThrownError | undefined;
  // As node:http says it of a request.
  if (error?.code === "ECONNRESET" && error.message === "aborted") {
    return fault("request_invalid", "The client went away before its body had arrived", { cause: thrown });
  }
  switch (error?.code) {
    case "FST_ERR_CTP_INVALID_JSON_BODY":
      return fault("json_invalid", "The body is not valid JSON", { cause: thrown });
    case poisonousName:
      return fault("json_invalid", `In the body ${poisonousNameText}`, { cause: thrown });
    case "FST_ERR_CTP_EMPTY_JSON_BODY":
      return fault("json_invalid", "The body is empty, and must be JSON", { cause: thrown });
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return fault("json_invalid", "The body must be JSON, with the content type application/json", { cause: thrown });
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return fault("sequence_too_long", "The body is too large", { cause: thrown });
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return fault("json_invalid", "The body is not as long as its Content-Length says", { cause: thrown });
    case "FST_ERR_BAD_URL":
    case "FST_ERR_MAX_PARAM_LENGTH":
      return fault("not_found", "Not found", { cause: thrown });
    default:
      return fault("internal_server_error", "Internal server error", { cause: thrown });
  }
}
