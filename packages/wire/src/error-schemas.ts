import { errorTable } from "./error-table.ts";

type Json = { readonly [key: string]: unknown };

/** What every error outside the agents platform says in its headers. */
export const retryableHeader: Json = {
  "X-Service-Retryable": {
    description: "Whether the same request might succeed when repeated.",
    schema: { type: "string", enum: ["true", "false"] },
  },
};

const text: Json = { type: "string" };

/** The bodies of errors outside the agents platform, as JSON Schema; which type has which is `form` in the table. */
export const errorSchemas: Readonly<Record<string, Json>> = {
  StructuredError: {
    type: "object",
    properties: { detail: { type: "array", items: { $ref: "#/components/schemas/Error" } } },
    required: ["detail"],
  },
  Error: {
    type: "object",
    description: "One fault. Decide by `type` and the status, never by the message.",
    properties: {
      loc: {
        type: "array",
        items: { anyOf: [text, { type: "integer" }] },
        description: "Where it is: `body`, `query`, `path` or `header`, then the way to the field.",
      },
      msg: { type: "string", description: "For people; may change." },
      type: {
        type: "string",
        enum: Object.entries(errorTable)
          .filter(([, { form }]) => form === "list")
          .map(([type]) => type),
      },
      url: { type: "string", format: "uri", description: "What is to be known about the type." },
      ctx: { type: "object", additionalProperties: true, description: "The bound, or the allowed values." },
      input: { description: "What was sent." },
    },
    required: ["loc", "msg", "type", "url"],
  },
  Refusal: {
    type: "object",
    properties: {
      detail: { type: "string", description: "For people; may change." },
      status_code: { type: "integer" },
      type: { type: "string", description: "Only of a limit: which." },
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
