import type { FieldSchema, Manifest, Pricing, ToolRecord } from "@gantry/wire";
import { foreignSchema, foreignText } from "../../kernel/foreign-text.ts";
import type { Caller } from "../accounts/index.ts";
import type { Model } from "../models/index.ts";
import type { OfferedTool } from "./context.ts";
import { agentToolName, modelToolName } from "./tool-names.rules.ts";

/** Every description is a part of what the client's model reads with each question. */
const longestText = 1000;

const units: Readonly<Record<keyof Pricing, string>> = {
  per_request: "a call",
  per_second: "a second of running",
  per_million_input_tokens: "a million input tokens",
  per_million_cached_tokens: "a million cached input tokens",
  per_million_cache_write_tokens: "a million input tokens written to the cache",
  per_million_output_tokens: "a million output tokens",
  per_output: "an output file",
};

/** What another user wrote of a model is marked as theirs. */
export function describeModel(model: Model, caller: Pick<Caller, "userId">): OfferedTool {
  const { owner, endpointId } = model;
  const isTheirs = model.ownerId !== caller.userId && !model.isBuiltIn;
  const { title, description, pricing, kind, backend } = model.manifest;
  const what = kind === "other" ? "Runs the model" : `Runs the ${kind} model`;
  const input = inputSchemaOf(model.manifest);
  return {
    name: modelToolName(model),
    title: isTheirs ? endpointId : title,
    description: sentences([
      `${what} ${endpointId}.`,
      isTheirs && description.trim() !== "" ? foreignText(owner, description) : cut(description),
      priceOf(pricing),
    ]),
    inputSchema: isTheirs ? { ...foreignSchema(owner, input), type: "object" } : input,
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: backend.type !== "builtin" },
  };
}

/** One of the caller's own agents: its goal is no secret here. */
/** Without a goal for a key limited to models, which sees agents as cards. */
export function describeAgent(
  slug: string,
  { name, goal }: { name: string; goal?: string },
  inputSchema: Record<string, unknown>,
): OfferedTool {
  // Whoever runs an own agent does not pay its price.
  const price = "It pays for the models that it calls.";
  return {
    name: agentToolName(slug),
    title: name,
    description: sentences([
      `Runs your agent ${name} and waits for its result.`,
      goal ? `Its goal: ${cut(goal)}` : "",
      price,
    ]),
    inputSchema: { ...inputSchema, type: "object" },
    annotations: { readOnlyHint: false, openWorldHint: true },
  };
}

export function describeAction({ id, description, parameters }: ToolRecord): OfferedTool {
  return {
    name: id,
    title: id.replace(/^idp_/, "Identity: ").replaceAll("_", " "),
    description: cut(description),
    inputSchema: { ...parameters, type: "object" },
    annotations: { readOnlyHint: true, openWorldHint: true },
  };
}

export function priceOf(pricing: Pricing): string {
  const prices = (Object.keys(units) as (keyof Pricing)[]).flatMap((name) => {
    const dollars = pricing[name] ?? 0;
    return dollars > 0 ? [`${dollars} ${units[name]}`] : [];
  });
  return prices.length === 0 ? "Free of charge." : `Price in US dollars: ${prices.join(", ")}.`;
}

function cut(text: string): string {
  const trimmed = text.trim();
  return trimmed.length <= longestText ? trimmed : `${trimmed.slice(0, longestText).toWellFormed()}…`;
}

function sentences(texts: readonly string[]): string {
  return texts.filter((text) => text !== "").join(" ");
}

/** What a client's model can make use of; extensions and marks of our own are left out. */
const keywords = [
  "type",
  "title",
  "description",
  "default",
  "enum",
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "items",
  "properties",
  "required",
  "additionalProperties",
  "format",
] as const;

const mediaNames = { image: "An image", video: "A video", audio: "A sound", file: "A file" } as const;
const addressNote =
  "given as an http or https URL, as a data: URI, or as the s3:// address of a file that you uploaded or that a model made for you.";

/** A manifest's input as the arguments of a tool. */
export function inputSchemaOf({ input }: Manifest): OfferedTool["inputSchema"] {
  const required = input.required ?? [];
  const properties = Object.entries(input.properties).map(([name, field]) => [
    name,
    field.format === "binary" ? addressSchema(field) : valueSchema(field, required.includes(name)),
  ]);
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required: [...required] }),
    additionalProperties: false,
  };
}

function addressSchema(field: FieldSchema): Record<string, unknown> {
  const formats = field["x-formats"]?.length ? ` (${field["x-formats"].join(", ")})` : "";
  const note = `${mediaNames[field["x-media"] ?? "file"]}${formats}, ${addressNote}`;
  return {
    type: "string",
    ...(field.title !== undefined && { title: field.title }),
    description: field.description ? `${field.description} ${note}` : note,
  };
}

/**
 * A field that may be left out is left out instead of being null, which means the same. Not every client understands a
 * list of types.
 */
function valueSchema(field: FieldSchema, isRequired: boolean): Record<string, unknown> {
  const schema: Record<string, unknown> = {};
  for (const keyword of keywords) if (field[keyword] !== undefined) schema[keyword] = field[keyword];
  if (isRequired || !Array.isArray(field.type)) return schema;
  const types = field.type.filter((type) => type !== "null");
  schema.type = types.length === 1 ? types[0] : types;
  if (schema.default === null) delete schema.default;
  if (field.enum) schema.enum = field.enum.filter((value) => value !== null);
  return schema;
}

type Schema = Record<string, unknown>;

const deepest = 16;

/**
 * Whether an object may answer to a schema, as far as types, fixed values and what they are put together of tell. What a
 * reference leads to is not looked at: it may.
 */
export function takesObject(schema: unknown, depth = 0): boolean {
  if (schema === false) return false;
  if (!isObject(schema) || depth > deepest) return true;
  const { type, enum: values, allOf, anyOf, oneOf } = schema;
  if (type !== undefined && ![type].flat().includes("object")) return false;
  if ("const" in schema && !isObject(schema.const)) return false;
  if (Array.isArray(values) && !values.some(isObject)) return false;
  const takes = (part: unknown) => takesObject(part, depth + 1);
  if (Array.isArray(allOf) && !allOf.every(takes)) return false;
  return [anyOf, oneOf].every((ways) => !Array.isArray(ways) || ways.some(takes));
}

function isObject(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
