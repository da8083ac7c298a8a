import type { BackendConfig } from "@gantry/wire";
import type { Issue } from "../../kernel/errors.ts";

/**
 * Whether this backend may be saved. The models inside the server cost the operator's machine and nothing else, so only
 * an admin points a name at one: else anybody could offer them under another price. An owner whose model an admin gave
 * such a backend may change everything else about it.
 */
export function backendIssues(
  backend: BackendConfig,
  stored: BackendConfig | undefined,
  caller: { isAdmin: boolean },
  builtins: readonly string[],
): Issue[] {
  if (backend.type !== "builtin") return [];
  const loc = ["body", "backend"];
  const kept = stored?.type === "builtin" && stored.model === backend.model;
  if (!caller.isAdmin && !kept) {
    return [{ type: "value_error", loc: [...loc, "type"], msg: "Only an admin may use a built-in model as a backend" }];
  }
  if (typeof backend.model === "string" && builtins.includes(backend.model)) return [];
  const msg = `Must be one of ${builtins.join(", ")}`;
  return [{ type: "one_of", loc: [...loc, "model"], msg, ctx: { expected: [...builtins] } }];
}
