import type { ErrorDialect } from "../doors/door-error.ts";

const types: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
  504: "timeout_error",
};

export const anthropicDialect: ErrorDialect = {
  headers: (requestId) => ({ "request-id": requestId }),
  body: ({ status, message, param, details }, requestId) => ({
    type: "error",
    error: {
      type: types[status] ?? (status >= 500 ? "api_error" : "invalid_request_error"),
      message: param === null || message.startsWith(param) ? message : `${param}: ${message}`,
      // The official client acts on the code.
      ...(typeof details?.error_code === "string" && { details }),
    },
    request_id: requestId,
  }),
};
