import type { z } from "zod";
import { type Components, describeParameters, schemaRef } from "./components.ts";
import { headerParameters } from "./headers.ts";
import type { Api, Json, Operation, OperationGroup } from "./operation.ts";
import { usualFailures } from "./usual-failures.rules.ts";

const further: Readonly<Record<NonNullable<Operation["also"]>[number], string>> = {
  201: "Created",
  204: "Ended; no more events follow",
  206: "The requested range",
  304: "Not modified",
};

const done = { 200: "OK", 201: "Created", 202: "Accepted", 204: "No content" };

export function describeOperation(
  api: Api,
  { tag, fails }: OperationGroup,
  operation: Operation,
  components: Components,
): Json {
  const { id, summary, description, body } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    "x-stability": api.stability,
    parameters: parametersOf(api, operation),
    ...(body && { requestBody: { required: isRequired(body), content: contentOf(operation, components) } }),
    responses: responsesOf(api, operation, fails, components),
  };
}

/** A body without required fields is optional. */
function isRequired(body: NonNullable<Operation["body"]>): boolean {
  return typeof body === "string" || !body.safeParse({}).success;
}

function parametersOf({ pathParameters }: Api, { path, query, headers = [] }: Operation): Json[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    description: pathParameters[name],
    schema: { type: "string" },
  }));
  const inQuery = Object.entries(query ? describeParameters(query) : {}).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    ...(description !== undefined && { description }),
    schema,
  }));
  const inHeaders = headers.map((name) => ({
    name,
    in: "header",
    description: headerParameters[name],
    schema: { type: "string" },
  }));
  return [...inPath, ...inQuery, ...inHeaders];
}

function contentOf({ body, example }: Operation, { nameOf }: Components): Json {
  const file = { type: "string", format: "binary", description: "The bytes of the file." };
  const form = (properties: Json) => ({
    "multipart/form-data": { schema: { type: "object", properties, required: Object.keys(properties) } },
  });
  if (body === "file") return { "application/octet-stream": { schema: file }, ...form({ file }) };
  const path = { type: "string", description: "The path in the drive, such as `/reports/may.pdf`." };
  if (body === "upload") return form({ path, file });
  if (!body) return {};
  return { "application/json": { schema: schemaRef(nameOf(body)), ...(example && { example }) } };
}

function responsesOf(
  api: Api,
  operation: Operation,
  ofGroup: readonly number[] | undefined,
  components: Components,
): Json {
  const { method, status = 200, also = [] } = operation;
  const responses: Record<string, Json> = {};
  for (const code of [status, ...also]) {
    const isEmpty = method === "head" || code === 204 || code === 304;
    const description = code === status ? done[status] : further[code as keyof typeof further];
    responses[code] = { description, ...(!isEmpty && { content: answerOf(api, operation, components) }) };
  }
  for (const code of usualFailures(api, operation, ofGroup)) {
    const failure = api.failures[code];
    if (!failure) throw new Error(`No description for status ${code}`);
    responses[code] =
      method === "head" ? { description: failure.description } : { $ref: `#/components/responses/${failure.name}` };
  }
  return responses;
}

function answerOf(api: Api, operation: Operation, components: Components): Json {
  const { answer, otherwise } = operation;
  if (!answer) return {};
  if ("media" in answer) return mediaOf(answer);
  const schema = schemaRef(nameOfAnswer(api, operation, answer, components));
  return { "application/json": { schema }, ...(otherwise && mediaOf(otherwise)) };
}

function mediaOf({ media, description }: { media: string; description: string }): Json {
  return { [media]: { schema: { type: "string", description } } };
}

/** A list is named after its record and described once. */
function nameOfAnswer(
  api: Api,
  { list, query }: Operation,
  answer: z.ZodType,
  { schemas, nameOf }: Components,
): string {
  const record = nameOf(answer);
  if (!list) return record;
  const isPaged = Object.keys(query?.shape ?? {}).some((name) => name in api.page);
  const properties = { [list]: { type: "array", items: schemaRef(record) }, ...(isPaged && api.page) };
  schemas[`${record}List`] = { type: "object", properties, required: Object.keys(properties) };
  return `${record}List`;
}
