import { isObject } from "../text/answer.ts";

type Schema = Record<string, unknown>;

/** Whether a value is one of a schema in Gemini's form, as far as is needed to tell alternatives apart. */
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
      return isObject(value) && fieldsFit(value, schema);
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
