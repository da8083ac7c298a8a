import type { JsonSchema, SchemaFault } from "./schemas.ts";

const maxBytes = 65_536;
const maxDepth = 32;
/** Copying a deeper value to a thread may overflow the stack. */
const maxValueDepth = 500;
const maxTooLarge = 20;

/** Checked before a schema is serialized or copied, because both recurse. */
export function faultOfSize(schema: JsonSchema): SchemaFault | undefined {
  const deep = tooDeep(schema, []);
  if (deep) return { path: deep, message: `Nested more than ${maxDepth} levels deep` };
  if (Buffer.byteLength(JSON.stringify(schema)) <= maxBytes) return undefined;
  return { path: [], message: `A schema can have at most ${maxBytes} bytes of JSON` };
}

export interface ValueFaults {
  tooDeep: SchemaFault | undefined;
  /** Too large numbers are parsed as Infinity and would be serialized as null. */
  tooLarge: readonly SchemaFault[];
}

/** Checked before a value is copied to a thread or serialized, whatever its schema. */
export function faultsOfValue(value: unknown): ValueFaults {
  const tooLarge: SchemaFault[] = [];
  const isTooDeep = isDeeper(value, [], tooLarge);
  return { tooDeep: isTooDeep ? { path: [], message: "Nested too deeply to be checked" } : undefined, tooLarge };
}

function isDeeper(value: unknown, path: (string | number)[], tooLarge: SchemaFault[]): boolean {
  if (typeof value === "number" && !Number.isFinite(value) && tooLarge.length < maxTooLarge) {
    tooLarge.push({ path: [...path], message: "must be a number between -1.79e308 and 1.79e308" });
  }
  if (typeof value !== "object" || value === null) return false;
  if (path.length === maxValueDepth) return true;
  for (const [key, entry] of Object.entries(value)) {
    path.push(Array.isArray(value) ? Number(key) : key);
    if (isDeeper(entry, path, tooLarge)) return true;
    path.pop();
  }
  return false;
}

function tooDeep(value: unknown, path: readonly (string | number)[]): readonly (string | number)[] | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (path.length > maxDepth) return path;
  for (const [key, entry] of Object.entries(value)) {
    const found = tooDeep(entry, [...path, Array.isArray(value) ? Number(key) : key]);
    if (found) return found;
  }
  return undefined;
}
