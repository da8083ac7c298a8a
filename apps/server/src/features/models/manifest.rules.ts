import { type Manifest, manifestSchema } from "@gantry/wire";
import type { Issue, Loc } from "../../kernel/errors.ts";
import { schemaIssues } from "../../kernel/schema-issues.ts";

/** As JSON. A list of models carries whole manifests, a hundred at most. */
export const maxManifestBytes = 65_536;
/** Levels of nesting. What is deeper cannot be written out again without the risk of a stack overflow. */
const maxDepth = 32;

export type CheckedManifest = { manifest: Manifest; issues: [] } | { manifest: undefined; issues: Issue[] };

/** A manifest with its defaults, or everything that is wrong with it, each fault under its path in the body. */
export function checkManifest(name: string, body: unknown): CheckedManifest {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    return wrong([{ type: "json_invalid", loc: ["body"], msg: "The body must be a JSON object" }]);
  }
  const unstorable: Issue[] = [];
  if (!checkStorable(body, ["body"], unstorable)) return wrong(unstorable);
  const whole = { title: name, ...body };
  const issues = [...unstorable, ...schemaIssues(manifestSchema, whole, ["body"])];
  if (Buffer.byteLength(JSON.stringify(body)) > maxManifestBytes) {
    const msg = `A manifest has ${maxManifestBytes} bytes of JSON at most`;
    issues.push({ type: "sequence_too_long", loc: ["body"], msg, ctx: { max_length: maxManifestBytes } });
  }
  return issues.length > 0 ? wrong(issues) : { manifest: manifestSchema.parse(whole), issues: [] };
}

function wrong(issues: Issue[]): CheckedManifest {
  return { manifest: undefined, issues };
}

/**
 * Finds what is JSON but cannot be kept: NUL and half surrogates are no text to PostgreSQL, and a number too large for
 * a double has become Infinity. Answers false where it had to stop because of the depth.
 */
function checkStorable(value: unknown, loc: Loc, issues: Issue[]): boolean {
  if (typeof value === "string") {
    if (value.includes("\0") || !value.isWellFormed()) {
      issues.push({ type: "value_error", loc, msg: "The text has characters that cannot be stored" });
    }
  } else if (typeof value === "number" && !Number.isFinite(value)) {
    issues.push({ type: "float_parsing", loc, msg: "The number is too large" });
  } else if (typeof value === "object" && value !== null) {
    if (loc.length > maxDepth) {
      issues.push({ type: "json_invalid", loc, msg: `Nested more than ${maxDepth} levels deep` });
      return false;
    }
    for (const [key, entry] of Object.entries(value)) {
      const at = [...loc, Array.isArray(value) ? Number(key) : key];
      if (!checkStorable(key, at, issues) || !checkStorable(entry, at, issues)) return false;
    }
  }
  return true;
}

/** The stored manifest with the patched fields in place; null takes a field out. */
export function patched(stored: Manifest, patch: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries({ ...stored, ...patch }).filter(([, value]) => value !== null));
}

/**
 * What a built-in model becomes when another version of its manifest ships: every field follows, except those in which
 * the stored manifest differs from what was shipped last, because those were patched by the operator.
 */
export function reseeded(
  stored: Manifest,
  shippedBefore: Manifest,
  shipped: Manifest,
  equal: (left: unknown, right: unknown) => boolean,
): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const field of new Set([...Object.keys(stored), ...Object.keys(shippedBefore), ...Object.keys(shipped)])) {
    const name = field as keyof Manifest;
    const value = equal(stored[name], shippedBefore[name]) ? shipped[name] : stored[name];
    if (value !== undefined) result[field] = value;
  }
  return result;
}
