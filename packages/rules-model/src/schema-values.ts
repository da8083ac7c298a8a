export type Schema = Record<string, unknown>;

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function schemaOf(value: unknown): Schema {
  return isRecord(value) ? value : {};
}

export function typeOf(schema: Schema): string | undefined {
  const types = (Array.isArray(schema.type) ? schema.type : [schema.type]).filter((one) => one !== "null");
  const [type] = types;
  if (typeof type === "string") return type;
  if (isRecord(schema.properties)) return "object";
  if (schema.items !== undefined) return "array";
  const choice = choicesOf(schema)?.[0];
  if (choice !== undefined && choice !== null) return typeof choice;
  const alternative = [schema.anyOf, schema.oneOf].find(Array.isArray)?.find((one) => schemaOf(one).type !== "null");
  return alternative === undefined ? undefined : typeOf(schemaOf(alternative));
}

export function choicesOf(schema: Schema): readonly unknown[] | undefined {
  if (schema.const !== undefined) return [schema.const];
  return Array.isArray(schema.enum) ? schema.enum : undefined;
}

/** The value converted to the schema's type, or undefined if that would lose information. */
export function asType(value: unknown, schema: Schema): unknown {
  const choices = choicesOf(schema);
  const cast = castTo(value, typeOf(schema));
  if (!choices) return within(cast, schema) ? cast : undefined;
  return choices.find((choice) => choice === cast || String(choice).toLowerCase() === String(value).toLowerCase());
}

function castTo(value: unknown, type: string | undefined): unknown {
  switch (type) {
    case "string":
      return typeof value === "string"
        ? value
        : typeof value === "number" || typeof value === "boolean"
          ? String(value)
          : undefined;
    case "integer":
    case "number": {
      const figure = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
      if (typeof figure !== "number" || !Number.isFinite(figure)) return undefined;
      return type === "integer" && !Number.isInteger(figure) ? undefined : figure;
    }
    case "boolean":
      if (typeof value === "boolean") return value;
      return value === "true" ? true : value === "false" ? false : undefined;
    case "array":
      return Array.isArray(value) ? value : undefined;
    case "object":
      return isRecord(value) ? value : undefined;
    default:
      return value;
  }
}

function within(value: unknown, schema: Schema): boolean {
  if (value === undefined) return false;
  if (typeof value === "number") {
    const { minimum, maximum } = schema;
    return !(typeof minimum === "number" && value < minimum) && !(typeof maximum === "number" && value > maximum);
  }
  if (typeof value !== "string") return true;
  const { minLength, maxLength } = schema;
  return (
    !(typeof minLength === "number" && value.length < minLength) &&
    !(typeof maxLength === "number" && value.length > maxLength)
  );
}

const byFormat: Record<string, string> = {
  "date-time": "1970-01-01T00:00:00Z",
  date: "1970-01-01",
  time: "00:00:00Z",
  email: "unknown@example.com",
  uri: "https://example.com/",
  url: "https://example.com/",
  uuid: "00000000-0000-4000-8000-000000000000",
};

/** The smallest value that fits the schema. */
export function minimalValue(schema: Schema): unknown {
  const choice = choicesOf(schema)?.[0];
  if (choice !== undefined) return choice;
  if (schema.default !== undefined) return schema.default;
  if (Array.isArray(schema.type) && schema.type.includes("null")) return null;
  switch (typeOf(schema)) {
    case "integer":
    case "number":
      return smallestNumber(schema);
    case "boolean":
      return false;
    case "array":
      return Array.from({ length: Number(schema.minItems ?? 0) || 0 })
        .slice(0, 100)
        .map(() => minimalValue(schemaOf(schema.items)));
    case "object":
      return {};
    case undefined:
      return null;
    default:
      return (
        byFormat[String(schema.format)] ??
        "unknown"
          .padEnd(Math.min(Number(schema.minLength ?? 0) || 0, 10_000), ".")
          .slice(0, Number(schema.maxLength ?? 10_000))
      );
  }
}

function smallestNumber({ minimum, exclusiveMinimum, maximum }: Schema): number {
  if (typeof minimum === "number" && minimum > 0) return Math.ceil(minimum);
  if (typeof exclusiveMinimum === "number" && exclusiveMinimum >= 0) return Math.floor(exclusiveMinimum) + 1;
  return typeof maximum === "number" && maximum < 0 ? Math.floor(maximum) : 0;
}
