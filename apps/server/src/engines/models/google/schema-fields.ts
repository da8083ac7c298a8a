import { isRecord } from "../../../kernel/is-record.ts";

type Schema = Record<string, unknown>;

const numeric = (value: unknown) => typeof value === "number";

/** Keywords of Gemini's schema by type. Any other keyword makes Gemini refuse the whole call. */
const always = {
  title: isText,
  description: isText,
  default: (value: unknown) => value !== undefined && value !== null,
};
const keywordsByType: Record<string, Record<string, (value: unknown) => boolean>> = {
  string: { minLength: numeric, maxLength: numeric, pattern: isText },
  integer: { minimum: numeric, maximum: numeric },
  number: { minimum: numeric, maximum: numeric },
  boolean: {},
  array: { minItems: numeric, maxItems: numeric },
  object: { minProperties: numeric, maxProperties: numeric },
};
const formats: Record<string, readonly string[]> = {
  string: ["date-time"],
  integer: ["int32", "int64"],
  number: ["float", "double"],
};

export function isText(value: unknown): value is string {
  return typeof value === "string";
}

export function isScalar(type: unknown): type is string {
  return isText(type) && Object.hasOwn(keywordsByType, type) && type !== "object" && type !== "array";
}

/** The keywords of a schema that Gemini accepts, without nested schemas. */
export function fieldsOf(schema: Schema, type: string, isNullable: boolean): Schema {
  const known: Record<string, (value: unknown) => boolean> = { ...always, ...keywordsByType[type] };
  const fields = Object.entries(schema).filter(([name, value]) => Object.hasOwn(known, name) && known[name]?.(value));
  const { format } = schema;
  return {
    type,
    ...Object.fromEntries(fields),
    ...(isText(format) && formats[type]?.includes(format) && { format }),
    ...(isNullable && { nullable: true }),
  };
}

/** Checks a value only as far as needed to choose between alternatives. */
export function fits(value: unknown, schema: Schema): boolean {
  if (Array.isArray(schema.anyOf)) return schema.anyOf.some((one: Schema) => fits(value, one));
  if (value === null) return schema.nullable === true;
  switch (schema.type) {
    case "string":
      return typeof value === "string" && (!Array.isArray(schema.enum) || schema.enum.includes(value));
    case "integer":
      return Number.isInteger(value);
    case "number":
      return typeof value === "number";
    case "boolean":
      return typeof value === "boolean";
    case "array":
      return Array.isArray(value) && value.every((one) => fits(one, schema.items as Schema));
    default:
      return isRecord(value) && fieldsFit(value, schema);
  }
}

function fieldsFit(value: Record<string, unknown>, schema: Schema): boolean {
  const properties = schema.properties as Record<string, Schema>;
  const required = Array.isArray(schema.required) ? schema.required : [];
  if (!required.every((name: string) => Object.hasOwn(value, name))) return false;
  return Object.entries(value).every(([name, one]) => {
    const schemaOfOne = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return schemaOfOne !== undefined && fits(one, schemaOfOne);
  });
}
