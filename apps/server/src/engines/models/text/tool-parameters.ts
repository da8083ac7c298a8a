import { isRecord } from "../../../kernel/is-record.ts";
import type { ChatTool } from "../chat.ts";
import type { ArrivingToolCall } from "./answer.ts";
import { answerToolName } from "./answer-tool.ts";
import { foldObject } from "./folded-object.ts";
import type { TextRequest } from "./request.ts";

type Schema = Record<string, unknown>;

/** Turns what a model answered to the schema that it was shown into what the tool's own schema asks for. */
export type Restore = (value: unknown) => unknown;

/** A schema as an upstream takes it. */
export interface Offered {
  schema: Schema;
  /** Absent where an answer to it is an answer to the tool's own schema as it is. */
  restore?: Restore | undefined;
}

/** OpenAI and Anthropic refuse the whole call if one tool has any of these at the top of its schema. */
const refused = ["$ref", "anyOf", "oneOf", "allOf", "enum", "const", "not"];
/** References into what is folded away. */
const intoUnion = /"\$ref":"#\/(?:anyOf|oneOf|allOf)\//;
const wrapperFields = ["value", "wrapped_value"] as const;

const offers = new WeakMap<Schema, Offered>();

/** A schema whose top is an object and nothing else. What cannot be one is asked for as a field of one. */
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
  if (isObjectAlready && refused.every((word) => !(word in schema))) return { schema: { type: "object", ...schema } };
  const folded = intoUnion.test(JSON.stringify(schema)) ? undefined : foldObject(schema, schema);
  if (folded) return { schema: { ...definitionsOf(schema), ...folded } };
  return wrapped(moved(schema, wrapperFieldOf(schema)));
}

/** The value as the only field of an object, and out of it again. */
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

/** Not one that the value itself may have: it could not be told whether it was left out. */
function wrapperFieldOf(schema: unknown): string {
  const [usual, other] = wrapperFields;
  return JSON.stringify(schema)?.includes(`"${usual}":`) ? other : usual;
}

function definitionsOf({ $defs, definitions }: Schema): Schema {
  return { ...($defs !== undefined && { $defs }), ...(definitions !== undefined && { definitions }) };
}

/** The same schema one level deeper: its references to itself go along. */
function moved(schema: unknown, field: string): unknown {
  if (Array.isArray(schema)) return schema.map((one) => moved(one, field));
  if (!isRecord(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([word, value]) => [
      word,
      word === "$ref" && typeof value === "string" && value.startsWith("#")
        ? `#/properties/${field}${value.slice(1)}`
        : moved(value, field),
    ]),
  );
}

/** The schema that a tool of this call really has: of the answer's, the one that was asked for. */
export function schemaOf({ name, parameters }: ChatTool, { responseSchema }: TextRequest): Schema {
  return name === answerToolName && responseSchema ? responseSchema : parameters;
}

/** Finished calls with the arguments that their tools' own schemas ask for. */
export function restoreCalls(calls: Iterable<ArrivingToolCall>, request: TextRequest): void {
  for (const call of calls) {
    const tool = request.tools?.find(({ name }) => name === call.name);
    const schema = call.name === answerToolName ? request.responseSchema : tool?.parameters;
    const restore = schema && objectParameters(schema).restore;
    if (restore) call.json = restoredJson(call.json, restore);
  }
}

function restoredJson(json: string, restore: Restore): string {
  try {
    return JSON.stringify(restore(JSON.parse(json)));
  } catch {
    // Not JSON: told to the model by whoever runs the tools.
    return json;
  }
}
