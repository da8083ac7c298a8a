import { type BackendConfig, type Manifest, promptedBackends } from "@gantry/wire";
import type { Issue } from "../../kernel/errors.ts";
import { isRecord } from "../../kernel/is-record.ts";

/** Whether the backend takes messages and tools, as agents need. Of the built-in models only `rules` does. */
export function holdsConversations({ backend: { type, model } }: Pick<Manifest, "backend">): boolean {
  return type === "builtin" ? model === "rules" : promptedBackends.has(type);
}

/**
 * Only an admin may use a built-in model as a backend: otherwise any user could resell the operator's machine. An owner may
 * change everything else of a model that has such a backend. The schema checks the rest.
 */
export function backendIssues(
  backend: unknown,
  stored: BackendConfig | undefined,
  caller: { isAdmin: boolean },
  builtins: readonly string[],
): Issue[] {
  if (!isRecord(backend)) return [];
  const { type, model } = backend;
  if (type !== "builtin") return [];
  const loc = ["body", "backend"];
  const kept = stored?.type === "builtin" && stored.model === model;
  if (!caller.isAdmin && !kept) {
    return [{ type: "value_error", loc: [...loc, "type"], msg: "Only an admin may use a built-in model as a backend" }];
  }
  if (typeof model === "string" && builtins.includes(model)) return [];
  const msg = `Must be one of ${builtins.join(", ")}`;
  return [{ type: "one_of", loc: [...loc, "model"], msg, ctx: { expected: [...builtins] } }];
}
