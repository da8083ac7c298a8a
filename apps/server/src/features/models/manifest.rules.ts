import { type Manifest, manifestDefaults, manifestSchema, withEmbeddingFields } from "@gantry/wire";
import type { Issue } from "../../kernel/errors.ts";
import { isRecord } from "../../kernel/is-record.ts";
import { schemaIssues } from "../../kernel/schema-issues.ts";
import { storableIssues } from "../../kernel/storable-issues.ts";

/** Of JSON. A page of models contains up to a hundred manifests. */
export const maxManifestBytes = 65_536;
/** Deeper nesting risks a stack overflow when it is serialised. */
const maxDepth = 32;

export type CheckedManifest = { manifest: Manifest; issues: [] } | { manifest: undefined; issues: Issue[] };

/** Returns the manifest with its defaults, or all issues. */
export function checkManifest(name: string, body: unknown): CheckedManifest {
  if (!isRecord(body)) {
    return wrong([{ type: "json_invalid", loc: ["body"], msg: "The body must be a JSON object" }]);
  }
  const { issues: unstorable, isTooDeep } = storableIssues(body, maxDepth);
  if (isTooDeep) return wrong(unstorable);
  const whole = withEmbeddingFields({ title: name, ...body });
  const issues = [...unstorable, ...schemaIssues(manifestSchema, whole, ["body"])];
  if (Buffer.byteLength(JSON.stringify(body)) > maxManifestBytes) {
    const msg = `A manifest must not exceed ${maxManifestBytes} bytes of JSON`;
    issues.push({ type: "sequence_too_long", loc: ["body"], msg, ctx: { max_length: maxManifestBytes } });
  }
  return issues.length > 0 ? wrong(issues) : { manifest: manifestSchema.parse(whole), issues: [] };
}

function wrong(issues: Issue[]): CheckedManifest {
  return { manifest: undefined, issues };
}

/** Adds issues for locations without one: the first issue of a location is more precise. */
export function withFurther(issues: readonly Issue[], further: readonly Issue[]): Issue[] {
  const keyOf = ({ loc }: Issue) => JSON.stringify(loc);
  const known = new Set(issues.map(keyOf));
  return [...issues, ...further.filter((issue) => !known.has(keyOf(issue)))];
}

/** Null removes a field. A manifest has `backend` or `backends`, so that a new one replaces the other. */
export function patched(stored: Manifest, patch: object): Record<string, unknown> {
  const { backend, backends, ...rest } = stored;
  const given = patch as Partial<Record<string, unknown>>;
  const kept = given.backend || given.backends ? rest : stored;
  return Object.fromEntries(Object.entries({ ...kept, ...patch }).filter(([, value]) => value !== null));
}

/** Ignores issues of unpatched fields that were stored under earlier rules, so that a price can change without fixing them. */
export function checkPatched(name: string, stored: Manifest, patch: object): CheckedManifest {
  const whole = patched(stored, patch);
  const checked = checkManifest(name, whole);
  if (checked.manifest) return checked;
  const earlier = new Set(checkManifest(name, stored).issues.map((issue) => JSON.stringify(issue)));
  const issues = checked.issues.filter(
    (issue) => Object.hasOwn(patch, String(issue.loc[1])) || !earlier.has(JSON.stringify(issue)),
  );
  if (issues.length > 0) return wrong(issues);
  const { $schema: _forEditors, ...kept } = whole;
  return { manifest: { ...stored, ...manifestDefaults, ...kept }, issues: [] };
}

/** Merges a new shipped manifest: all fields follow it, except those that the operator has patched since the last one. */
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
