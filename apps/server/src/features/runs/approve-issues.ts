import type { Issue } from "../../kernel/errors.ts";
import type { Runnable } from "../agents/index.ts";
import { isServerToolName } from "../tool-servers/index.ts";
import type { RunsContext } from "./context.ts";

/** Entries of `approve` that no tool of the run or its descendants can have: a typo would block the run later. */
export async function approveIssues(
  { agents }: Pick<RunsContext, "agents">,
  agent: Runnable,
  approve: readonly unknown[],
): Promise<Issue[]> {
  const isToolName = (name: string) => agents.tools.has(name) || isServerToolName(name);
  if (approve.every((name) => typeof name !== "string" || isToolName(name))) return [];
  const bound = await agents.boundNames(agent);
  return approve.flatMap((name, at): Issue[] => {
    if (typeof name !== "string" || isToolName(name) || bound.includes(name)) return [];
    const msg = `${JSON.stringify(name)} is not the name of a tool. Use a built-in tool, <server>__<tool>, or a sub-agent of this agent.`;
    return [{ type: "value_error", loc: ["body", "approve", at], msg }];
  });
}
