import { backendsOf, type FieldSchema, fileFieldOf, type Manifest, type Pricing, type ToolRecord } from "@gantry/wire";
import { foreignSchema, foreignText } from "../../kernel/foreign-text.ts";
import { isRecord } from "../../kernel/is-record.ts";
import type { Caller } from "../accounts/index.ts";
import { highestPricing } from "../billing/index.ts";
import type { Model } from "../models/index.ts";
import type { OfferedTool } from "./context.ts";
import { agentToolName, modelToolName } from "./tool-names.rules.ts";

/** The model of the client reads every description with each request. */
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

/** Text by another user is marked as such. */
export function describeModel(model: Model, caller: Pick<Caller, "userId">): OfferedTool {
  const { owner, endpointId } = model;
  const isTheirs = model.ownerId !== caller.userId && !model.isBuiltIn;
  const { title, description, kind } = model.manifest;
  const what = kind === "other" ? "Runs the model" : `Runs the ${kind} model`;
  const input = inputSchemaOf(model.manifest);
  return {
    name: modelToolName(model),
    title: isTheirs ? endpointId : title,
    description: sentences([
      `${what} ${endpointId}.`,
      isTheirs && description.trim() !== "" ? foreignText(owner, description) : truncate(description),
      priceOf(highestPricing(model.manifest)),
    ]),
    inputSchema: isTheirs ? { ...foreignSchema(owner, input), type: "object" } : input,
    annotations: {
      readOnlyHint: false,
      destructiveHint: false,
      openWorldHint: backendsOf(model.manifest).some(({ type }) => type !== "builtin"),
    },
  };
}

/** An agent of the caller, by its description or else by its goal, which a key limited to models does not see. */
export function describeAgent(
  slug: string,
  { name, description, goal }: { name: string; description?: string | null | undefined; goal?: string },
  inputSchema: Record<string, unknown>,
): OfferedTool {
  return {
    name: agentToolName(slug),
    title: name,
    description: sentences([
      `Runs your agent ${name} and waits for its result.`,
      description ? endedSentence(truncate(description)) : goal ? `Its goal: ${truncate(goal)}` : "",
      // Owners do not pay the price of their own agents.
      "You pay for the models that it calls.",
    ]),
    inputSchema: { ...inputSchema, type: "object" },
    annotations: { readOnlyHint: false, openWorldHint: true },
  };
}

export function describeAction({ id, description, parameters }: ToolRecord): OfferedTool {
  return {
    name: id,
    title: id.replace(/^idp_/, "Identity: ").replaceAll("_", " "),
    description: truncate(description),
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

function truncate(text: string): string {
  const trimmed = text.trim();
  return trimmed.length <= longestText ? trimmed : `${trimmed.slice(0, longestText).toWellFormed()}…`;
}

function endedSentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

function sentences(texts: readonly string[]): string {
  return texts.filter((text) => text !== "").join(" ");
}

/** Keywords that models understand; our own extensions are left out. */
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

const mediaNames = { image: "An image", video: "A video", audio: "An audio file", file: "A file" } as const;
const addressNote =
  "as an http or https URL, a data: URI, or the s3:// address of a file that you uploaded or that a model created for you.";

export function inputSchemaOf({ input }: Manifest): OfferedTool["inputSchema"] {
  const required = input.required ?? [];
  const properties = Object.entries(input.properties).map(([name, field]) => [
    name,
    filesSchema(field) ?? valueSchema(field, required.includes(name)),
  ]);
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required: [...required] }),
    additionalProperties: false,
  };
}

/** Undefined for a field without files. */
function filesSchema(field: FieldSchema): Record<string, unknown> | undefined {
  const files = fileFieldOf(field);
  if (!files?.list) return files && addressSchema(files.file);
  const { title, description } = field;
  return {
    type: "array",
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    items: addressSchema(files.file),
    ...(files.list.least > 0 && { minItems: files.list.least }),
    maxItems: files.list.most,
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

/** Optional fields are omitted instead of null: some clients do not understand a list of types. */
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

const deepest = 16;

/** Whether an object can satisfy the schema, judged by types, constants and combinations. References count as yes. */
export function takesObject(schema: unknown, depth = 0): boolean {
  if (schema === false) return false;
  if (!isRecord(schema) || depth > deepest) return true;
  const { type, enum: values, allOf, anyOf, oneOf } = schema;
  if (type !== undefined && ![type].flat().includes("object")) return false;
  if ("const" in schema && !isRecord(schema.const)) return false;
  if (Array.isArray(values) && !values.some(isRecord)) return false;
  const takes = (part: unknown) => takesObject(part, depth + 1);
  if (Array.isArray(allOf) && !allOf.every(takes)) return false;
  return [anyOf, oneOf].every((ways) => !Array.isArray(ways) || ways.some(takes));
}
