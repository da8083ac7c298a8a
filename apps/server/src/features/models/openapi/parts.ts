import { retryableHeader as retryable } from "@gantry/wire";

/** Part of an OpenAPI document. */
export type Json = { readonly [key: string]: unknown };

export const schemaRef = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

export const nullable = (type: string, rest: Json = {}): Json => ({ type: [type, "null"], ...rest });

export function record(required: Json, optional: Json = {}, rest: Json = {}): Json {
  return {
    type: "object",
    properties: { ...required, ...optional },
    ...(Object.keys(required).length > 0 && { required: Object.keys(required) }),
    ...rest,
  };
}

const answer = (description: string, schema: string, headers?: Json): Json => ({
  description,
  ...(headers && { headers }),
  content: { "application/json": { schema: schemaRef(schema) } },
});

export const errorResponses: Json = {
  Unauthorized: answer("The API key is missing or invalid.", "Unauthorized"),
  Forbidden: answer("No access to the model, the model is not active, or the wallet is empty.", "Refusal", retryable),
  NotFound: answer("Model, prediction or file not found.", "Refusal", retryable),
  ValidationError: answer("A field is missing or wrong.", "HTTPValidationError", retryable),
  TooManyRequests: answer("Too many requests a minute, or too many at once.", "Refusal", {
    ...retryable,
    "Retry-After": { description: "Seconds.", schema: { type: "integer" } },
  }),
  Cancelled: answer("The prediction was cancelled.", "StructuredError", retryable),
  Failed: answer("The run failed, or the service is unavailable.", "StructuredError", retryable),
};

const ref = (name: string): Json => ({ $ref: `#/components/responses/${name}` });

export const readErrors: Json = {
  401: ref("Unauthorized"),
  403: ref("Forbidden"),
  404: ref("NotFound"),
  "5XX": ref("Failed"),
};
export const inputErrors: Json = { ...readErrors, 422: ref("ValidationError") };
export const runErrors: Json = { ...inputErrors, 429: ref("TooManyRequests") };
export const syncErrors: Json = { ...runErrors, 499: ref("Cancelled") };
