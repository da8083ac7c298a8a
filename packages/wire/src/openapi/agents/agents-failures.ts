import { agentErrors } from "../../agent-errors.ts";
import { retryAfter } from "../headers.ts";
import type { Api } from "../operation.ts";

const meanings: Readonly<Record<number, [name: string, meaning: string]>> = {
  400: ["InvalidInput", "The input is wrong; `details` lists every fault"],
  401: ["Unauthorized", "The key is missing or wrong"],
  403: ["Forbidden", "The key may not do this, or the money does not cover it"],
  404: ["NotFound", "Not found, or another user's"],
  409: ["Conflict", "It conflicts with what stands, or needs a confirmation"],
  412: ["PreconditionFailed", "The version that stands is not what `If-Match` or `If-None-Match` asks for"],
  413: ["FileTooLarge", "The file is too large, or exceeds the storage quota"],
  416: ["RangeNotSatisfiable", "The range lies past the end"],
  422: ["IdempotencyKeyReused", "The Idempotency-Key was used for another request"],
  429: ["RateLimited", "Too many requests"],
  500: ["Internal", "A fault of the platform"],
  502: ["UpstreamError", "A server behind the platform failed"],
  503: ["Unavailable", "Not available for a moment; try again"],
  507: ["StorageFull", "The storage is full"],
};

/** What the platform answers when it does not do what was asked. */
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
    description: "What every refused request is answered. Decide by `type` and the status, never by the message.",
    properties: {
      error: {
        type: "object",
        properties: {
          type,
          code: { ...type, description: "The same as `type`." },
          message: { type: "string", description: "For people; may change." },
          details: {
            description:
              "Of `invalid_input` a list with every fault: `loc` (where), `message`, `reason`. Of others what the one fault knows.",
          },
        },
        required: ["type", "code", "message"],
      },
    },
    required: ["error"],
    examples: [{ error: { type: "not_found", code: "not_found", message: "Agent not found" } }],
  },
};
