import type { AgentSetup } from "@gantry/sdk";
import type { AgentDraft } from "../form/agent-draft.rules.ts";
import { emptyDraft, toolIdOf } from "../form/agent-draft.rules.ts";
import { isIdentityTool } from "../form/tool-groups.rules.ts";

/** What a template uses, and what has to be there before it works. */
export function templateNeeds({ model, tools, drives, mcp_servers }: AgentDraft, setup?: AgentSetup): string {
  const ids = tools.flatMap((tool) => toolIdOf(tool) ?? []);
  const needs = [
    ...(model === emptyDraft.model ? [] : [`the model ${model}`]),
    ...(ids.some(isIdentityTool) ? ["an identity tenant"] : []),
    ...(mcp_servers.length > 0 ? ["a tool server"] : []),
    ...(ids.includes("web_search") ? ["a search provider"] : []),
    ...(!setup?.drives && (drives.length > 0 || ids.some((id) => id.startsWith("drive_"))) ? ["a drive"] : []),
  ];
  if (needs.length > 0) return `Needs ${needs.join(" and ")}`;
  if (setup) return `Comes with ${setupParts(setup).join(" and ")}`;
  return ids.length > 0 ? `Works at once with ${ids.join(", ")}` : "Works at once";
}

/** What is created beside the agent, for people. */
export function setupParts({ drives = [], memory, schedule, trigger }: AgentSetup): string[] {
  return [
    ...drives.map(({ name, index }) => `the ${index ? "searchable " : ""}drive ${name}`),
    ...(memory === undefined ? [] : ["notes that it keeps"]),
    ...(schedule ? ["a schedule, off until you enable it"] : []),
    ...(trigger ? ["a trigger"] : []),
  ];
}
