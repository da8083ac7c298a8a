import { z } from "zod";
import { type AgentsOperation, agentsOperations } from "./agents-operations.ts";

type Json = Record<string, unknown>;

/** What the platform answers when it does not do what was asked. */
const failures: Readonly<Record<string, string>> = {
  "400": "The input is wrong; `details` lists every fault",
  "401": "The key is missing or wrong",
  "403": "Forbidden, or insufficient funds",
  "404": "Not found, or another user's",
  "409": "It conflicts with what stands, or needs a confirmation",
  "413": "The file is too large",
  "422": "The Idempotency-Key was used for another request",
  "429": "Too many requests; see Retry-After",
  "500": "A fault of the platform",
  "502": "A server behind the platform failed",
  "503": "Not available for a moment; try again",
  "507": "The storage is full",
};

/** What only some operations answer with. */
const further: Readonly<Record<NonNullable<AgentsOperation["also"]>[number], string>> = {
  204: "The run has ended, and nothing follows",
  206: "The part that `Range` asks for",
  304: "The version that `If-None-Match` names still stands",
  412: "The version that stands is not what `If-Match` or `If-None-Match` asks for",
  416: "The range lies past the end",
};

/** The same at every address, and long in the making. */
let described: Record<string, Json> | undefined;

/** The agents platform as an OpenAPI 3.1 document. All of it is a preview and says so. */
export function agentsOpenApi(baseUrl: string): Json {
  described ??= describePaths();
  return {
    openapi: "3.1.0",
    info: {
      title: "Gantry agents platform",
      version: "1.0.0-preview",
      description: "Agents, runs, drives, tool servers and the identity connector. A preview: it may change.",
      "x-stability": "preview",
    },
    servers: [{ url: `${baseUrl}/v1` }],
    security: [{ "X-API-KEY": [] }, { APIKeyHeader: [] }],
    paths: described,
    components: {
      schemas: { Error: errorSchema },
      securitySchemes: {
        "X-API-KEY": { type: "apiKey", in: "header", name: "X-API-KEY" },
        APIKeyHeader: { type: "apiKey", in: "header", name: "Authorization" },
      },
    },
  };
}

function describePaths(): Record<string, Json> {
  const paths: Record<string, Json> = {};
  for (const operation of agentsOperations) {
    const at = paths[operation.path] ?? {};
    at[operation.method] = operationOf(operation);
    paths[operation.path] = at;
  }
  return paths;
}

const errorSchema = {
  type: "object",
  properties: {
    error: {
      type: "object",
      properties: { type: { type: "string" }, code: { type: "string" }, message: { type: "string" }, details: {} },
      required: ["type", "code", "message"],
    },
  },
  required: ["error"],
};

function operationOf(operation: AgentsOperation): Json {
  const { method, path, summary, body } = operation;
  return {
    operationId: `${method}_${path.replace(/[^a-z]+/gi, "_").replace(/^_|_$/g, "")}`,
    summary,
    "x-stability": "preview",
    parameters: parametersOf(operation),
    ...(body && { requestBody: { required: isRequired(body), content: contentOf(body) } }),
    responses: responsesOf(operation),
  };
}

/** Where nothing must be given, the body itself may be left out. */
function isRequired(body: NonNullable<AgentsOperation["body"]>): boolean {
  return typeof body === "string" || !body.safeParse({}).success;
}

function responsesOf(operation: AgentsOperation): Json {
  const { method, status = 200, also = [] } = operation;
  const failure = { "application/json": { schema: { $ref: "#/components/schemas/Error" } } };
  const told = { [status]: "Done", ...failures, ...Object.fromEntries(also.map((code) => [code, further[code]])) };
  const responses: Json = {};
  for (const [code, description] of Object.entries(told)) {
    const isEmpty = method === "head" || code === "204" || code === "304";
    responses[code] = { description, ...(!isEmpty && { content: code < "300" ? answerOf(operation) : failure }) };
  }
  return responses;
}

function parametersOf({ path, query, headers = [] }: AgentsOperation): Json[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  // As they are read, not as the texts that they are sent as.
  const described = query ? schemaOf(query, "output").properties : {};
  const inQuery = Object.entries(described as Json).map(([name, schema]) => ({ name, in: "query", schema }));
  return [...inPath, ...inQuery, ...headers.map((name) => ({ name, in: "header", schema: { type: "string" } }))];
}

function contentOf(body: NonNullable<AgentsOperation["body"]>): Json {
  const file = { type: "string", format: "binary" };
  const form = (properties: Json) => ({
    "multipart/form-data": { schema: { type: "object", properties, required: Object.keys(properties) } },
  });
  if (body === "file") return { "application/octet-stream": { schema: file }, ...form({ file }) };
  if (body === "upload") return form({ path: { type: "string" }, file });
  return { "application/json": { schema: schemaOf(body, "input") } };
}

function answerOf({ answer, list, query }: AgentsOperation): Json {
  if (!answer) return {};
  if ("media" in answer) return { [answer.media]: { schema: { type: "string" } } };
  const record = schemaOf(answer, "output");
  if (!list) return { "application/json": { schema: record } };
  const number = { type: "integer" };
  const isPaged = query !== undefined && "limit" in query.shape;
  const properties = {
    [list]: { type: "array", items: record },
    ...(isPaged && { total: number, limit: number, offset: number }),
  };
  return { "application/json": { schema: { type: "object", properties, required: Object.keys(properties) } } };
}

/** What only code can check is left out of the document, not guessed. */
function schemaOf(schema: z.ZodType, io: "input" | "output"): Json {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, { io, unrepresentable: "any" }) as Json;
  return json;
}
