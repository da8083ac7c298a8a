import { createHash } from "node:crypto";

/**
 * The names under which things are offered, and the way back:
 *
 *   model  model_<owner>_<name>   a username has no `_`, so that the first one ends it; a point is written DOT
 *   agent  agent_<slug>           of the caller's own; a slug has 54 characters at most
 *   action its own name           idp_…
 *
 * Names of models have no capital letters, so that DOT, and the X before the mark of a name that had to be cut, cannot be
 * taken for a part of one.
 */
export type ToolAddress =
  | { kind: "model"; owner: string; name: string }
  /** The name was cut: one of the owner's models whose names begin so. */
  | { kind: "cut-model"; owner: string; beginning: string }
  | { kind: "agent"; slug: string }
  | { kind: "action"; name: string };

const longestName = 64;
const markLength = 9;
const marked = /X[0-9a-f]{8}$/;

export function modelToolName({ owner, name }: { owner: string; name: string }): string {
  const whole = `model_${owner}_${name.replaceAll(".", "DOT")}`;
  if (whole.length <= longestName) return whole;
  const mark = createHash("sha256")
    .update(`${owner}/${name}`)
    .digest("hex")
    .slice(0, markLength - 1);
  return `${whole.slice(0, longestName - markLength)}X${mark}`;
}

export function agentToolName(slug: string): string {
  return `agent_${slug}`;
}

export function readToolName(name: string): ToolAddress | undefined {
  if (name.startsWith("idp_")) return { kind: "action", name };
  if (name.startsWith("agent_")) return { kind: "agent", slug: name.slice("agent_".length) };
  const [, owner, rest] = /^model_([^_]+)_(.+)$/.exec(name) ?? [];
  if (owner === undefined || rest === undefined) return undefined;
  // What stands before the first capital letter is a part of the model's name, wherever the cut was made.
  if (marked.test(name)) return { kind: "cut-model", owner, beginning: rest.split(/[A-Z]/, 1)[0] ?? "" };
  return { kind: "model", owner, name: rest.replaceAll("DOT", ".") };
}
