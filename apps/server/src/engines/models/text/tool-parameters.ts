import { isRecord } from "../../../kernel/is-record.ts";
import type { ChatTool } from "../chat.ts";
import { answerToolName } from "./answer-tool.ts";
import { foldObject } from "./folded-object.ts";
import type { TextRequest } from "./request.ts";

type Schema = Record<string, unknown>;

/** Turns a value that fits the offered schema into one that fits the tool's own schema. */
export type Restore = (value: unknown) => unknown;

/** A schema that the upstream accepts. */
export interface Offered {
  schema: Schema;
  /** Absent if values need no conversion. */
  restore?: Restore | undefined;
}

/** OpenAI and Anthropic refuse the whole call if the top level of a tool's schema has one of these. */
const refused = ["$ref", "anyOf", "oneOf", "allOf", "enum", "const", "not"];
/** References to parts that folding removes. */
const intoUnion = /"\$ref":"#\/(?:anyOf|oneOf|allOf)\//;
const wrapperFields = ["value", "wrapped_value"] as const;

const offers = new WeakMap<Schema, Offered>();

/** A schema whose top level is a plain object. Other values become a field of an object. */
export function objectParameters(schema: Schema): Offered {
  let offered = offers.get(schema);
  if (!offered) {
    offered = offerOf(schema);
    offers.set(schema, offered);
  }
  return offered;
}

function offerOf(schema: Schema): Offered {
  const isObjectAlready = schema.type === undefined || schema.type === "object";
  if (isObjectAlready && refused.every((keyword) => !(keyword in schema)))
    return { schema: { type: "object", ...schema } };
  const folded = intoUnion.test(JSON.stringify(schema)) ? undefined : foldObject(schema, schema);
  if (folded) return { schema: { ...definitionsOf(schema), ...folded } };
  return wrapped(moved(schema, wrapperFieldOf(schema)));
}

/** Makes the value the only field of an object. */
export function wrapped(schema: unknown, restore: Restore = (value) => value): Offered {
  const wrapperField = wrapperFieldOf(schema);
  return {
    schema: { type: "object", properties: { [wrapperField]: schema }, required: [wrapperField] },
    restore: (value) =>
      isRecord(value) && Object.hasOwn(value, wrapperField) && Object.keys(value).length === 1
        ? restore(value[wrapperField])
        : value,
  };
}

/** Avoids a name that the value itself may have, so that an omitted wrapper can be recognized. */
function wrapperFieldOf(schema: unknown): string {
  const [usual, other] = wrapperFields;
  return JSON.stringify(schema)?.includes(`"${usual}":`) ? other : usual;
}

function definitionsOf({ $defs, definitions }: Schema): Schema {
  return { ...($defs !== undefined && { $defs }), ...(definitions !== undefined && { definitions }) };
}

/** Moves a schema one level deeper, with its references to itself. */
function moved(schema: unknown, field: string): unknown {
  if (Array.isArray(schema)) return schema.map((one) => moved(one, field));
  if (!isRecord(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [
      keyword,
      keyword === "$ref" && typeof value === "string" && value.startsWith("#")
        ? `#/properties/${field}${value.slice(1)}`
        : moved(value, field),
    ]),
  );
}

/** The tool's own schema; for the answer tool, the response schema. */
export function schemaOf({ name, parameters }: ChatTool, { responseSchema }: TextRequest): Schema {
  return name === answerToolName && responseSchema ? responseSchema : parameters;
}

/** Converts the arguments of a call to the tool's own schema. Undefined if they need no conversion. */
export function restoreOf(name: string, request: Pick<TextRequest, "tools" | "responseSchema">): Restore | undefined {
  const tool = request.tools?.find((one) => one.name === name);
  const schema = name === answerToolName && request.responseSchema ? request.responseSchema : tool?.parameters;
  return schema && objectParameters(schema).restore;
}

export function restoredJson(json: string, restore: Restore): string {
  try {
    return JSON.stringify(restore(JSON.parse(json)));
  } catch {
    // The run reports invalid arguments to the model.
    return json;
  }
}
