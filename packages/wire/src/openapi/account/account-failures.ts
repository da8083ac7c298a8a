import { retryableHeader } from "../../error-schemas.ts";
import { retryAfter } from "../headers.ts";
import type { Api, Json } from "../operation.ts";

export const accountFailures: Api["failures"] = {
  400: failure("InvalidParameters", "A query parameter is invalid.", "StructuredError"),
  401: { name: "Unauthorized", description: "The API key is missing or invalid.", schema: "Unauthorized" },
  403: failure("Forbidden", "The caller or the key is not allowed to do this.", "Refusal"),
  404: failure("NotFound", "The resource does not exist, or belongs to another user.", "Refusal"),
  409: failure("Conflict", "The request conflicts with the current state.", "Refusal"),
  422: failure(
    "ValidationError",
    "A field or parameter is missing or invalid. All faults are listed.",
    "StructuredError",
  ),
  500: failure("Failed", "Gantry failed.", "StructuredError"),
  503: failure(
    "Unavailable",
    "Gantry is starting or stopping, or an engine or a provider is temporarily unavailable.",
    "StructuredError",
    retryAfter,
  ),
};

/** Of routes that only this document has. */
export const ownFailures: Api["failures"] = {
  429: failure("RateLimited", "Too many requests of this kind are waiting.", "StructuredError", retryAfter),
  502: failure("UpstreamError", "The provider refused the call or gave a wrong answer.", "StructuredError"),
};

function failure(name: string, description: string, schema: string, headers: Json = {}) {
  return { name, description, schema, headers: { ...retryableHeader, ...headers } };
}

/** The fields of a paged list. */
export const accountPage: Api["page"] = {
  page: { type: "integer" },
  page_size: { type: "integer" },
  total_count: { type: "integer", description: "Entries on all pages." },
  total_pages: { type: "integer" },
};
