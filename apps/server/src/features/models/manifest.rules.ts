import { type Manifest, manifestDefaults, manifestSchema } from "@gantry/wire";
import type { Issue } from "../../kernel/errors.ts";
import { schemaIssues } from "../../kernel/schema-issues.ts";
import { storableIssues } from "../../kernel/storable-issues.ts";

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
  const { issues: unstorable, isTooDeep } = storableIssues(body, maxDepth);
  if (isTooDeep) return wrong(unstorable);
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

/** All issues, without a second one about a place that has one: the first says it more exactly. */
export function withFurther(issues: readonly Issue[], further: readonly Issue[]): Issue[] {
  const placeOf = ({ loc }: Issue) => JSON.stringify(loc);
  const told = new Set(issues.map(placeOf));
  return [...issues, ...further.filter((issue) => !told.has(placeOf(issue)))];
}

/** The stored manifest with the patched fields in place; null takes a field out. */
export function patched(stored: Manifest, patch: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries({ ...stored, ...patch }).filter(([, value]) => value !== null));
}

/**
 * The same, checked. What was stored under an earlier rule and is not patched stands as it is: whoever wants to change a
 * price need not mend a default first.
 */
export function checkPatched(name: string, stored: Manifest, patch: object): CheckedManifest {
  const whole = patched(stored, patch);
  const checked = checkManifest(name, whole);
  if (checked.manifest) return checked;
  const standing = new Set(checkManifest(name, stored).issues.map((issue) => JSON.stringify(issue)));
  const issues = checked.issues.filter(
    (issue) => Object.hasOwn(patch, String(issue.loc[1])) || !standing.has(JSON.stringify(issue)),
  );
  if (issues.length > 0) return wrong(issues);
  // As where nothing is wrong, what is for editors is not kept.
  const { $schema: _forEditors, ...kept } = whole;
  return { manifest: { ...stored, ...manifestDefaults, ...kept }, issues: [] };
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
