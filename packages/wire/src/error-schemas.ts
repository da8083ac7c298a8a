import { errorTable } from "./error-table.ts";

type Json = { readonly [key: string]: unknown };

/** Headers of every error outside the agents platform. */
export const retryableHeader: Json = {
  "X-Service-Retryable": {
    description: "Whether the same request may succeed later.",
    schema: { type: "string", enum: ["true", "false"] },
  },
};

const text: Json = { type: "string" };

/** Error bodies outside the agents platform, as JSON Schema; `form` in the error table says which type has which. */
export const errorSchemas: Readonly<Record<string, Json>> = {
  StructuredError: {
    type: "object",
    properties: { detail: { type: "array", items: { $ref: "#/components/schemas/Error" } } },
    required: ["detail"],
  },
  Error: {
    type: "object",
    description: "One error. Handle it by `type` and status, never by message.",
    properties: {
      loc: {
        type: "array",
        items: { anyOf: [text, { type: "integer" }] },
        description: "Location: `body`, `query`, `path` or `header`, then the path to the field.",
      },
      msg: { type: "string", description: "For people; may change." },
      type: {
        type: "string",
        enum: Object.entries(errorTable)
          .filter(([, { form }]) => form === "list")
          .map(([type]) => type),
      },
      url: { type: "string", format: "uri", description: "Documentation of the type." },
      ctx: {
        type: "object",
        additionalProperties: true,
        description: "Context, such as the limit or the allowed values.",
      },
      input: { description: "The value that was sent." },
    },
    required: ["loc", "msg", "type", "url"],
  },
  Refusal: {
    type: "object",
    properties: {
      detail: { type: "string", description: "For people; may change." },
      status_code: { type: "integer" },
      type: { type: "string", description: "Which limit, if the request exceeds one." },
    },
    required: ["detail", "status_code"],
    examples: [{ detail: "User not found", status_code: 404 }],
  },
  Unauthorized: {
    type: "object",
    properties: { error: { type: "object", properties: { code: text, message: text }, required: ["code", "message"] } },
    required: ["error"],
  },
};
