import { type BackendConfig, type Manifest, promptedBackends } from "@gantry/wire";
import type { Issue } from "../../kernel/errors.ts";

/**
 * Whether an agent can work with a model: whether its backend takes messages and tools. The others take an input and give
 * an output, which no agent can work with; of those inside the server one talks.
 */
export function holdsConversations({ backend: { type, model } }: Pick<Manifest, "backend">): boolean {
  return type === "builtin" ? model === "rules" : promptedBackends.has(type);
}

/**
 * Whether this backend may be saved; whether it is one at all is for its schema to say. The models inside the server cost
 * the operator's machine and nothing else, so only an admin points a name at one: else anybody could offer them under
 * another price. An owner whose model an admin gave such a backend may change everything else about it.
 */
export function backendIssues(
  backend: unknown,
  stored: BackendConfig | undefined,
  caller: { isAdmin: boolean },
  builtins: readonly string[],
): Issue[] {
  if (typeof backend !== "object" || backend === null) return [];
  const { type, model } = backend as { type?: unknown; model?: unknown };
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
