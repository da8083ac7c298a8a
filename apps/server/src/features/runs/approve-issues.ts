import type { Issue } from "../../kernel/errors.ts";
import type { Runnable } from "../agents/index.ts";
import { isServerToolName } from "../tool-servers/index.ts";
import type { RunsContext } from "./context.ts";

/**
 * The entries of `approve` that no tool goes by, in the run or below it: a misspelt one would be noticed only when the run
 * stands still and asks. What a sub-agent has is a tool of the platform or of some server.
 */
export async function approveIssues(
  { agents }: Pick<RunsContext, "agents">,
  agent: Runnable,
  approve: readonly unknown[],
): Promise<Issue[]> {
  const isElsewhere = (name: string) => agents.tools.has(name) || isServerToolName(name);
  if (approve.every((name) => typeof name !== "string" || isElsewhere(name))) return [];
  const bound = await agents.boundNames(agent);
  return approve.flatMap((name, at): Issue[] => {
    if (typeof name !== "string" || isElsewhere(name) || bound.includes(name)) return [];
    const msg = `No tool can be called ${JSON.stringify(name)}: it is none of the platform, no <server>__<tool> and no sub-agent of this agent`;
    return [{ type: "value_error", loc: ["body", "approve", at], msg }];
  });
}
