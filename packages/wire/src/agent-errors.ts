/** The types that the agents platform answers with, and their statuses. */
export const agentErrors = {
  invalid_input: 400,
  agent_not_published: 400,
  unauthorized: 401,
  forbidden: 403,
  insufficient_funds: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  confirmation_required: 409,
  precondition_failed: 412,
  file_too_large: 413,
  storage_quota_exceeded: 413,
  idempotency_key_reused: 422,
  rate_limit: 429,
  internal: 500,
  upstream_error: 502,
  unavailable: 503,
  storage_full: 507,
} as const;

export type AgentErrorType = keyof typeof agentErrors;
