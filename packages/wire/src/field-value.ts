type Keywords = Readonly<Record<string, unknown>>;

export const typeNames = ["string", "number", "integer", "boolean", "array", "object", "null"] as const;
type TypeName = (typeof typeNames)[number];

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The types that a field admits; none said means any. */
export function typesOf(field: Keywords): readonly TypeName[] {
  const { type } = field;
  const given = typeof type === "string" ? [type] : Array.isArray(type) ? type : typeNames;
  return typeNames.filter((name) => given.includes(name));
}

function hasType(value: unknown, name: TypeName): boolean {
  switch (name) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return isRecord(value);
    case "integer":
      return Number.isSafeInteger(value);
    case "number":
      return typeof value === "number" && Number.isFinite(value);
    default:
      return typeof value === name;
  }
}

/** Whether a number of some kind lies between two keywords; a keyword that is no number bounds nothing. */
function outside(size: number, least: unknown, most: unknown): boolean {
  return (typeof least === "number" && size < least) || (typeof most === "number" && size > most);
}

/**
 * Why a value does not satisfy a field, or nothing when it does. Knows exactly the keywords that a manifest may use.
 * Null satisfies every nullable field, also one whose `enum` does not list it.
 */
export function misfit(field: Keywords, value: unknown): string | undefined {
  const types = typesOf(field);
  if (!types.some((name) => hasType(value, name))) return `must be of type ${types.join(" or ")}`;
  if (value === null) return undefined;
  if (Array.isArray(field.enum) && !field.enum.some((one) => same(one, value))) return "must be one of enum";
  if (typeof value === "number" && outside(value, field.minimum, field.maximum)) {
    return "must lie between minimum and maximum";
  }
  if (typeof value === "string" && outside(value.length, field.minLength, field.maxLength)) {
    return "must be as long as minLength and maxLength say";
  }
  if (Array.isArray(value)) return misfitOfList(field, value);
  return isRecord(value) ? misfitOfObject(field, value) : undefined;
}

function misfitOfList(field: Keywords, value: readonly unknown[]): string | undefined {
  if (outside(value.length, field.minItems, field.maxItems)) {
    return "must have as many entries as minItems and maxItems say";
  }
  const { items } = field;
  if (!isRecord(items)) return undefined;
  for (const [index, entry] of value.entries()) {
    const reason = misfit(items, entry);
    if (reason) return `entry ${index} ${reason}`;
  }
  return undefined;
}

function misfitOfObject(field: Keywords, value: Keywords): string | undefined {
  const required = Array.isArray(field.required) ? field.required : [];
  const absent = required.find((name) => typeof name === "string" && !Object.hasOwn(value, name));
  if (absent !== undefined) return `must have ${absent}`;
  const properties = isRecord(field.properties) ? field.properties : {};
  for (const [name, entry] of Object.entries(value)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property === undefined && field.additionalProperties === false) return `must not have ${name}`;
    const reason = isRecord(property) ? misfit(property, entry) : undefined;
    if (reason) return `${name} ${reason}`;
  }
  return undefined;
}

/** Equality of two JSON values. Those of an enum are scalars as a rule, so texts are compared only where needed. */
function same(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  return JSON.stringify(left) === JSON.stringify(right);
}
