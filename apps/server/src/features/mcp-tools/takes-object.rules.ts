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
