/**
 * Every error type, one row each: HTTP status, whether clients may retry by default, and the keys of `ctx`.
 * `/docs/errors` is generated from this table, so users read `meaning`.
 */
export type ErrorForm = "list" | "text" | "typed" | "key";

export interface ErrorRow {
  status: number;
  retryable: boolean;
  form: ErrorForm;
  ctx: readonly string[];
  meaning: string;
  /** Only the agents platform answers with it. */
  isOfAgents?: true;
  /** The HTTP status, if `status` is only in the body. */
  insideOf?: number;
}

const field = (meaning: string, ...ctx: string[]): ErrorRow => ({
  status: 422,
  retryable: false,
  form: "list",
  ctx,
  meaning,
});

const run = (status: number, retryable: boolean, meaning: string, ...ctx: string[]): ErrorRow => ({
  status,
  retryable,
  form: "list",
  ctx,
  meaning,
});

const limited = (meaning: string): ErrorRow => ({ status: 429, retryable: true, form: "typed", ctx: [], meaning });

const refusal = (status: number, retryable: boolean, meaning: string): ErrorRow => ({
  status,
  retryable,
  form: "text",
  ctx: [],
  meaning,
});

export const errorTable = {
  // A wrong field.
  missing: field(
    "A required field is missing, or the body was not sent as multipart form data.",
    "expected_content_type",
    "given",
  ),
  extra_forbidden: field("The field is unknown, was given twice, or was given under both of its spellings."),
  one_of: field("The value is not one of the allowed options.", "expected"),
  string_type: field("The value must be text."),
  string_too_long: field("The text is longer than allowed.", "max_length"),
  bool_parsing: field("The value is not a boolean. Use true, false, 1, 0, yes, no, on or off."),
  int_parsing: field("The value is not a whole number."),
  float_parsing: field("The value is not a number."),
  greater_than_equal: field("The number is smaller than allowed.", "ge"),
  less_than_equal: field("The number is larger than allowed.", "le"),
  sequence_too_short: field("The list or text has too few entries.", "min_length"),
  sequence_too_long: field("The list or text has too many entries.", "max_length"),
  json_invalid: field("The value is not valid JSON, or does not have the expected shape."),
  url_parsing: field("The value is not an http or https URL."),
  datetime_parsing: field("The value is not an ISO 8601 date and time."),
  too_many_fields: field("The body has more fields than allowed.", "max_fields"),
  idempotency_key_reused: field("The Idempotency-Key was used before with other fields or files."),
  multipart_invalid: field("The body is not valid multipart form data, or ended early."),
  value_error: field("The value breaks a rule of the field. The message says which."),
  // Media.
  invalid_image_format: field("The bytes are not an image in a supported format.", "supported_formats"),
  invalid_video_format: field("The bytes are not a video in a supported format.", "supported_formats"),
  invalid_file_format: field("The bytes are not a file in a supported format.", "supported_formats"),
  video_duration_too_long: field("The video is longer than allowed.", "max_duration", "provided_duration"),
  image_too_large: field("The image has more pixels than allowed.", "max_pixels", "width", "height"),
  image_too_small: field("A side of the image is shorter than allowed.", "min_width", "min_height"),
  image_load_error: field("The image is damaged, or takes too long to decode."),
  file_too_large: field("The file is larger than allowed.", "max_size"),
  file_download_error: field("The file that the field refers to could not be fetched."),
  // The run itself.
  content_policy_violation: run(422, false, "The prompt or an input was refused by the content checker."),
  no_media_generated: run(422, false, "The model produced no output."),
  generation_cancelled: run(499, false, "The prediction was cancelled."),
  internal_server_error: run(500, true, "Gantry failed. Report the request id in the response to the operator."),
  downstream_service_error: run(
    502,
    false,
    "The backend of the model refused the request, failed, or ended its answer early.",
    "upstream_status",
  ),
  downstream_service_unavailable: run(
    503,
    true,
    "The backend of the model is unreachable or overloaded.",
    "upstream_status",
  ),
  service_unavailable: run(
    503,
    true,
    "Gantry is starting or stopping, or one of its engines is temporarily unavailable.",
  ),
  generation_timeout: run(504, true, "The prediction took longer than the model's time limit."),
  storage_full: run(507, true, "The storage is full."),
  storage_quota_exceeded: run(
    413,
    false,
    "The file or response would exceed the user's storage quota for uploads, drives, stored responses and files of batches. Delete some first.",
    "max_size",
    "stored",
  ),
  // Account and management requests.
  request_invalid: run(400, false, "The request is not valid HTTP, or its headers are too long or arrived too late."),
  invalid_parameters: { ...run(400, false, "A query parameter is invalid.") },
  // Refusals that carry a sentence only.
  unauthorized: { status: 401, retryable: false, form: "key", ctx: [], meaning: "The API key is missing or invalid." },
  forbidden: refusal(403, false, "The caller may not do this."),
  insufficient_funds: refusal(403, false, "The wallet, or a budget of the key, does not cover the request."),
  not_found: refusal(404, false, "The resource does not exist, or belongs to another user."),
  method_not_allowed: refusal(405, false, "The path does not support this method."),
  agent_not_published: { ...refusal(400, false, "The agent has no published revision."), isOfAgents: true },
  confirmation_required: {
    ...refusal(409, false, "The action writes. Review what it would do, then repeat it with confirm: true."),
    isOfAgents: true,
  },
  request_timeout: refusal(
    408,
    true,
    "The body arrived too slowly. JSON up to 1 MB must arrive within 30 seconds; other bodies need 10 kB per second.",
  ),
  conflict: refusal(409, false, "The request conflicts with the current state."),
  precondition_failed: refusal(412, false, "The current version does not satisfy If-Match or If-None-Match."),
  misdirected_request: {
    ...refusal(421, false, "The model streams its output. Call /predict/stream/ instead."),
    insideOf: 200,
  },
  rate_limit: limited(
    "Too many requests a minute for the plan, or tokens for the key. Retry-After says when to retry.",
  ),
  concurrent_requests_limit: limited("Too many predictions of this account run at the same time."),
} as const satisfies Record<string, ErrorRow>;

export type ErrorType = keyof typeof errorTable;
