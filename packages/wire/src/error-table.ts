/**
 * Every error type that Gantry answers with, one row each. The row decides the HTTP status, whether a client may
 * repeat the same request by default, and which keys `ctx` carries. `/docs/errors` is made from this table, so the
 * `meaning` of a row is what a user reads there.
 *
 * `form` is how the model and account surfaces write it (the agents surface has a dialect of its own):
 *   list   {detail: [{loc, msg, type, url, ctx?, input?}]}
 *   text   {detail: "<text>", status_code}
 *   typed  {detail: "<text>", status_code, type}
 *   key    {error: {code, message}}
 */
export type ErrorForm = "list" | "text" | "typed" | "key";

export interface ErrorRow {
  status: number;
  retryable: boolean;
  form: ErrorForm;
  ctx: readonly string[];
  meaning: string;
  /** Only the agents surface answers with it, in its dialect. */
  isOfAgents?: true;
  /** The status of the answer where `status` stands in its body alone. */
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
  one_of: field("The value is none of the allowed ones.", "expected"),
  string_type: field("The value must be text."),
  string_too_long: field("The text is longer than allowed.", "max_length"),
  bool_parsing: field("The value is no boolean; true, false, 1, 0, yes, no, on and off are understood."),
  int_parsing: field("The value is no whole number."),
  float_parsing: field("The value is no number."),
  greater_than_equal: field("The number is smaller than allowed.", "ge"),
  less_than_equal: field("The number is larger than allowed.", "le"),
  sequence_too_short: field("The list or text has too few entries.", "min_length"),
  sequence_too_long: field("The list or text has too many entries.", "max_length"),
  json_invalid: field("The value is not valid JSON, or not JSON of the expected shape."),
  url_parsing: field("The value is no http or https address."),
  datetime_parsing: field("The value is no ISO 8601 date and time."),
  too_many_fields: field("The body has more fields than allowed.", "max_fields"),
  idempotency_key_reused: field("The Idempotency-Key was used before with other fields or files."),
  multipart_invalid: field("The body is not readable as multipart form data, or ended early."),
  value_error: field("The value does not satisfy the field's rule; the message says which."),
  // Media.
  invalid_image_format: field("The bytes are no image of a supported format.", "supported_formats"),
  invalid_video_format: field("The bytes are no video of a supported format.", "supported_formats"),
  invalid_file_format: field("The bytes are no file of a supported format.", "supported_formats"),
  video_duration_too_long: field("The video is longer than allowed.", "max_duration", "provided_duration"),
  image_too_large: field("The image has more pixels than allowed.", "max_pixels", "width", "height"),
  image_too_small: field("A side of the image is shorter than allowed.", "min_width", "min_height"),
  image_load_error: field("The image is damaged, or takes too long to decode."),
  file_too_large: field("The file is larger than allowed.", "max_size"),
  file_download_error: field("The file that the field refers to could not be fetched."),
  // The run itself.
  content_policy_violation: run(422, false, "The prompt or an input was refused by the content checker."),
  no_media_generated: run(422, false, "The run ended without producing any output."),
  generation_cancelled: run(499, false, "The prediction was cancelled."),
  internal_server_error: run(500, true, "Something broke on our side. The response carries a request id to report."),
  downstream_service_error: run(
    502,
    false,
    "The service behind the model refused the request, failed or cut its answer short.",
    "upstream_status",
  ),
  downstream_service_unavailable: run(
    503,
    true,
    "The service behind the model could not be reached or is overloaded.",
    "upstream_status",
  ),
  service_unavailable: run(
    503,
    true,
    "Gantry is starting or stopping, or cannot reach one of its own engines for the moment.",
  ),
  generation_timeout: run(504, true, "The prediction took longer than the model's time limit."),
  storage_full: run(507, true, "There is no room left to store the file."),
  storage_quota_exceeded: run(
    413,
    false,
    "The uploads and drives of the user would take up more than the storage quota. Delete files first.",
    "max_size",
    "stored",
  ),
  // Account and management requests.
  request_invalid: run(
    400,
    false,
    "The request is not readable as HTTP, or its headers are too long or came too late.",
  ),
  invalid_parameters: { ...run(400, false, "A query parameter has a wrong value.") },
  // Refusals that carry a sentence only.
  unauthorized: { status: 401, retryable: false, form: "key", ctx: [], meaning: "The API key is missing or invalid." },
  forbidden: refusal(403, false, "The caller may not do this."),
  insufficient_funds: refusal(403, false, "The wallet, or the key's monthly limit, does not cover the request."),
  not_found: refusal(404, false, "The addressed thing does not exist, or is not the caller's."),
  method_not_allowed: refusal(405, false, "The path exists but not with this method."),
  agent_not_published: { ...refusal(400, false, "The agent has no published revision."), isOfAgents: true },
  confirmation_required: {
    ...refusal(409, false, "The action writes; repeat it with confirm: true after reading what it would do."),
    isOfAgents: true,
  },
  request_timeout: refusal(
    408,
    true,
    "The body arrived too slowly. JSON up to 1 MB must be complete within 30 seconds, other bodies need 10 kB per second.",
  ),
  conflict: refusal(409, false, "The request contradicts the present state."),
  precondition_failed: refusal(412, false, "The version that stands is not what If-Match or If-None-Match asks for."),
  misdirected_request: {
    ...refusal(421, false, "The model streams its output: call its route /predict/stream/ instead."),
    insideOf: 200,
  },
  rate_limit: limited("Too many requests in a minute for the plan. Retry-After says when to repeat."),
  concurrent_requests_limit: limited("Too many predictions of this account run at once."),
} as const satisfies Record<string, ErrorRow>;

export type ErrorType = keyof typeof errorTable;
