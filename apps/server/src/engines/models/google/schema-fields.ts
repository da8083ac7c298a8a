type Schema = Record<string, unknown>;

const numeric = (value: unknown) => typeof value === "number";

/** What Gemini's own schema knows of each type; any other word makes it refuse the whole call. */
const always = {
  title: isText,
  description: isText,
  default: (value: unknown) => value !== undefined && value !== null,
};
const kept: Record<string, Record<string, (value: unknown) => boolean>> = {
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

/** A type whose values have no parts. */
export function isScalar(type: unknown): type is string {
  return isText(type) && Object.hasOwn(kept, type) && type !== "object" && type !== "array";
}

/** What may be kept of a schema besides its parts. */
export function fieldsOf(schema: Schema, type: string, isNullable: boolean): Schema {
  const known: Record<string, (value: unknown) => boolean> = { ...always, ...kept[type] };
  const fields = Object.entries(schema).filter(([name, value]) => Object.hasOwn(known, name) && known[name]?.(value));
  const { format } = schema;
  return {
    type,
    ...Object.fromEntries(fields),
    ...(isText(format) && formats[type]?.includes(format) && { format }),
    ...(isNullable && { nullable: true }),
  };
}
