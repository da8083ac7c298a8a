import { createHash } from "node:crypto";

/**
 * Names of tools:
 *
 *   model  model_<owner>_<name>   usernames have no `_`, so the first one ends the owner; DOT replaces a dot
 *   agent  agent_<slug>           an agent of the caller; slugs have at most 54 characters
 *   action its own name           idp_…
 *
 * Names of models have no capital letters, so DOT and the X before the hash of a truncated name are unambiguous.
 */
export type ToolAddress =
  | { kind: "model"; owner: string; name: string }
  /** The name was truncated: a model of the owner whose name has this prefix. */
  | { kind: "cut-model"; owner: string; prefix: string }
  | { kind: "agent"; slug: string }
  | { kind: "action"; name: string };

const longestName = 64;
const hashLength = 9;
const truncated = /X[0-9a-f]{8}$/;

export function modelToolName({ owner, name }: { owner: string; name: string }): string {
  const whole = `model_${owner}_${name.replaceAll(".", "DOT")}`;
  if (whole.length <= longestName) return whole;
  const hash = createHash("sha256")
    .update(`${owner}/${name}`)
    .digest("hex")
    .slice(0, hashLength - 1);
  return `${whole.slice(0, longestName - hashLength)}X${hash}`;
}

export function agentToolName(slug: string): string {
  return `agent_${slug}`;
}

export function readToolName(name: string): ToolAddress | undefined {
  if (name.startsWith("idp_")) return { kind: "action", name };
  if (name.startsWith("agent_")) return { kind: "agent", slug: name.slice("agent_".length) };
  const [, owner, rest] = /^model_([^_]+)_(.+)$/.exec(name) ?? [];
  if (owner === undefined || rest === undefined) return undefined;
  // The text before the first capital letter belongs to the name.
  if (truncated.test(name)) return { kind: "cut-model", owner, prefix: rest.split(/[A-Z]/, 1)[0] ?? "" };
  return { kind: "model", owner, name: rest.replaceAll("DOT", ".") };
}
