import { type BackendConfig, backendsOf, givenBackends, type Manifest, promptedBackends } from "@gantry/wire";
import type { Issue } from "../../kernel/errors.ts";
import { isRecord } from "../../kernel/is-record.ts";

/** Whether every backend takes messages and tools, as agents need. Of the built-in models only `rules` does. */
export function holdsConversations(manifest: Pick<Manifest, "backend" | "backends">): boolean {
  return backendsOf(manifest).every(({ type, model }) =>
    type === "builtin" ? model === "rules" : promptedBackends.has(type),
  );
}

/** Completes a sentence: "its backend is cog". */
export function namedBackends(manifest: Pick<Manifest, "backend" | "backends">): string {
  const types = [...new Set(backendsOf(manifest).map(({ type }) => type))];
  return types.length === 1 ? `its backend is ${types[0]}` : `its backends are ${types.join(" and ")}`;
}

/** The issues of all backends of a manifest that is not checked yet. */
export function backendsIssues(
  body: unknown,
  stored: Manifest | undefined,
  caller: { isAdmin: boolean },
  builtins: readonly string[],
): Issue[] {
  if (!isRecord(body)) return [];
  const kept = stored ? backendsOf(stored) : [];
  return givenBackends(body).flatMap(({ backend, path }) => backendIssues(backend, path, kept, caller, builtins));
}

/**
 * Only an admin may use a built-in model as a backend: otherwise any user could resell the operator's machine. An owner may
 * change everything else of a model that has such a backend. The schema checks the rest.
 */
function backendIssues(
  { type, model }: Readonly<Record<string, unknown>>,
  path: readonly PropertyKey[],
  stored: readonly BackendConfig[],
  caller: { isAdmin: boolean },
  builtins: readonly string[],
): Issue[] {
  if (type !== "builtin") return [];
  const loc = ["body", ...path.map((part) => (typeof part === "number" ? part : String(part)))];
  const kept = stored.some((backend) => backend.type === "builtin" && backend.model === model);
  if (!caller.isAdmin && !kept) {
    return [{ type: "value_error", loc: [...loc, "type"], msg: "Only an admin may use a built-in model as a backend" }];
  }
  if (typeof model === "string" && builtins.includes(model)) return [];
  const msg = `Must be one of ${builtins.join(", ")}`;
  return [{ type: "one_of", loc: [...loc, "model"], msg, ctx: { expected: [...builtins] } }];
}
