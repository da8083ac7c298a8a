import type { JsonSchema, SchemaFault } from "./schemas.ts";

const maxBytes = 65_536;
const maxDepth = 32;
/** What is deeper cannot be copied to a thread without the risk of a stack overflow. */
const maxValueDepth = 500;

/** Looked at before a schema is written out or copied: both walk it to its depth. */
export function faultOfSize(schema: JsonSchema): SchemaFault | undefined {
  const deep = tooDeep(schema, []);
  if (deep) return { path: deep, message: `Nested more than ${maxDepth} levels deep` };
  if (Buffer.byteLength(JSON.stringify(schema)) <= maxBytes) return undefined;
  return { path: [], message: `A schema has ${maxBytes} bytes of JSON at most` };
}

/** Looked at before a value is copied to a thread or written out. */
export function faultOfDepth(value: unknown): SchemaFault | undefined {
  return isDeeper(value, maxValueDepth) ? { path: [], message: "Nested too deeply to be checked" } : undefined;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((entry) => isDeeper(entry, levels - 1));
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
