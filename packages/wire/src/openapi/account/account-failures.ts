import { retryableHeader } from "../../error-schemas.ts";
import { retryAfter } from "../headers.ts";
import type { Api, Json } from "../operation.ts";

/** What the account routes answer when they do not do what was asked. */
export const accountFailures: Api["failures"] = {
  400: failure("InvalidParameters", "A query parameter has a wrong value.", "StructuredError"),
  401: { name: "Unauthorized", description: "The API key is missing or invalid.", schema: "Unauthorized" },
  403: failure("Forbidden", "The caller, or the key, may not do this.", "Refusal"),
  404: failure("NotFound", "It does not exist, or is another user's.", "Refusal"),
  409: failure("Conflict", "It contradicts the present state.", "Refusal"),
  422: failure(
    "ValidationError",
    "A field or a parameter is missing or wrong; every fault is listed.",
    "StructuredError",
  ),
  500: failure("Failed", "Something broke on our side.", "StructuredError"),
  503: failure(
    "Unavailable",
    "Starting or stopping, or an engine is away for the moment.",
    "StructuredError",
    retryAfter,
  ),
};

function failure(name: string, description: string, schema: string, headers: Json = {}) {
  return { name, description, schema, headers: { ...retryableHeader, ...headers } };
}
