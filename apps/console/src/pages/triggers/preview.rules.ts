import { isRecord } from "../../ui/json.rules.ts";

const placeholder = /\{\{\{?\s*([\w$.[\]-]+)\s*\}?\}\}/g;
const whole = /^\{\{\{?\s*([\w$.[\]-]+)\s*\}?\}\}$/;

/**
 * The input that a delivery would give, for templates with plain placeholders. Undefined: the template has helpers or
 * blocks, which only the server knows.
 */
export function previewInput(template: unknown, context: unknown): unknown {
  if (JSON.stringify(template)?.replaceAll(placeholder, "").includes("{{")) return undefined;
  return filled(template, context);
}

function filled(part: unknown, context: unknown): unknown {
  if (Array.isArray(part)) return part.map((entry) => filled(entry, context));
  if (isRecord(part))
    return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, filled(value, context)]));
  if (typeof part !== "string") return part;
  // A text that is one placeholder keeps the type of the value.
  const [, path] = whole.exec(part) ?? [];
  if (path !== undefined) return valueAt(path, context) ?? null;
  return part.replace(placeholder, (_all, name: string) => textOf(valueAt(name, context)));
}

function valueAt(path: string, context: unknown): unknown {
  let value = context;
  for (const name of path.replaceAll(/\[([^\]]+)\]/g, "$1").split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

const textOf = (value: unknown): string =>
  value === undefined || value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
