import { agentErrors } from "../../agent-errors.ts";
import { retryAfter } from "../headers.ts";
import type { Api } from "../operation.ts";

const meanings: Readonly<Record<number, [name: string, meaning: string]>> = {
  400: ["InvalidInput", "The input is invalid; `details` lists every fault"],
  401: ["Unauthorized", "The key is missing or invalid"],
  403: ["Forbidden", "The key is not allowed to do this, or the balance is too low"],
  404: ["NotFound", "Not found, or owned by another user"],
  409: ["Conflict", "Conflicts with the current state, or needs confirmation"],
  412: ["PreconditionFailed", "The current version does not satisfy `If-Match` or `If-None-Match`"],
  413: ["FileTooLarge", "The file is too large, or exceeds the storage quota"],
  416: ["RangeNotSatisfiable", "The range is past the end"],
  422: ["IdempotencyKeyReused", "The Idempotency-Key was used for another request"],
  429: ["RateLimited", "Too many requests"],
  500: ["Internal", "Gantry failed"],
  502: ["UpstreamError", "An upstream server failed"],
  503: ["Unavailable", "Temporarily unavailable; try again"],
  507: ["StorageFull", "The storage is full"],
};

export const agentsFailures: Api["failures"] = Object.fromEntries(
  Object.entries(meanings).map(([status, [name, meaning]]) => [
    status,
    {
      name,
      description: withTypes(meaning, Number(status)),
      schema: "Error",
      ...(["429", "503"].includes(status) && { headers: retryAfter }),
    },
  ]),
);

function withTypes(meaning: string, status: number): string {
  const types = Object.entries(agentErrors).filter(([, of]) => of === status);
  return types.length === 0 ? `${meaning}.` : `${meaning}. Types: ${types.map(([type]) => `\`${type}\``).join(", ")}.`;
}

const type = { type: "string", enum: Object.keys(agentErrors) };

export const agentsFailureSchemas: Api["failureSchemas"] = {
  Error: {
    type: "object",
    description: "The body of every error. Handle it by `type` and status, never by message.",
    properties: {
      error: {
        type: "object",
        properties: {
          type,
          code: { ...type, description: "The same as `type`." },
          message: { type: "string", description: "For people; may change." },
          details: {
            description:
              "For `invalid_input` a list of all faults: `loc` (location), `message`, `reason`. For other types, context of the error.",
          },
        },
        required: ["type", "code", "message"],
      },
    },
    required: ["error"],
    examples: [{ error: { type: "not_found", code: "not_found", message: "Agent not found" } }],
  },
};
