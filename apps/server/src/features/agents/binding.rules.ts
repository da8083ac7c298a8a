import type { AgentBinding, AgentTool, ToolBinding } from "@gantry/wire";
import type { Issue } from "../../kernel/errors.ts";
import type { ToolInfo } from "./tools.ts";

/** The id of a tool, or `agent:<id>`. */
export function bindingId(tool: AgentTool): string {
  if (typeof tool === "string") return tool;
  return tool.type === "agent" ? `agent:${tool.agent_id}` : tool.id;
}

export function isAgentBinding(tool: AgentTool): tool is AgentBinding {
  return typeof tool !== "string" && tool.type === "agent";
}

/** Whether a tool of a run acts on the identity tenant. Tools of servers have two underscores in their name. */
export function isConnectorAction(toolName: string): boolean {
  return toolName.startsWith("idp_") && !toolName.includes("__");
}

/** A bare id is a binding without settings. */
export function asToolBinding(tool: string | ToolBinding): ToolBinding {
  return typeof tool === "string" ? { type: "tool", id: tool } : tool;
}

export function boundAgentIds(tools: readonly AgentTool[]): string[] {
  return tools.filter(isAgentBinding).map(({ agent_id }) => agent_id);
}

/** Issues of tool bindings that the table of tools alone shows. */
export function toolIssues(tools: readonly AgentTool[], table: ReadonlyMap<string, ToolInfo>): Issue[] {
  const issues: Issue[] = [];
  const seen = new Set<string>();
  for (const [at, tool] of tools.entries()) {
    const id = bindingId(tool);
    const loc = ["body", "tools", at];
    if (seen.has(id)) issues.push({ type: "value_error", loc, msg: `${id} is bound twice` });
    seen.add(id);
    if (isAgentBinding(tool)) continue;
    const info = table.get(id);
    const idLoc = typeof tool === "string" ? loc : [...loc, "id"];
    if (!info) issues.push({ type: "value_error", loc: idLoc, msg: `Tool ${id} does not exist` });
    else issues.push(...bindingIssues(asToolBinding(tool), info, loc));
  }
  return issues;
}

function bindingIssues(binding: ToolBinding, info: ToolInfo, loc: readonly (string | number)[]): Issue[] {
  const issues: Issue[] = [];
  if (binding.confirm === "never" && info.kind === "write" && info.id.startsWith("idp_")) {
    const msg =
      "A write to the identity tenant always needs a confirmation. Only the caller of a run can approve it in advance.";
    issues.push({ type: "value_error", loc: [...loc, "confirm"], msg });
  }
  // Some actions accept more fields than their table lists.
  if (info.parameters.additionalProperties === true) return issues;
  const known = { ...(info.parameters.properties ?? {}), ...(info.settings?.properties ?? {}) };
  for (const name of Object.keys(binding.arguments ?? {})) {
    if (Object.hasOwn(known, name)) continue;
    issues.push({
      type: "extra_forbidden",
      loc: [...loc, "arguments", name],
      msg: `${info.id} has no argument ${name}`,
    });
  }
  return issues;
}

/** Two tools with the same name for the model. `names` are the slugs of the bound agents, by id. */
export function nameIssues(
  tools: readonly AgentTool[],
  names: ReadonlyMap<string, string>,
  others: readonly string[] = [],
): Issue[] {
  const issues: Issue[] = [];
  const taken = new Set([...others, ...tools.filter((tool) => !isAgentBinding(tool)).map(bindingId)]);
  for (const [at, tool] of tools.entries()) {
    if (!isAgentBinding(tool)) continue;
    const name = tool.name ?? names.get(tool.agent_id);
    if (name === undefined) continue;
    if (taken.has(name)) {
      issues.push({
        type: "value_error",
        loc: ["body", "tools", at, "name"],
        msg: `Another tool has the name ${name}`,
      });
    }
    taken.add(name);
  }
  return issues;
}

/** Tools that need a confirmation by default, besides writes to the identity tenant. */
const askingTools: readonly string[] = ["drive_delete"];

/**
 * Whether a call of the tool needs a confirmation. A write to the identity tenant always does, even if an old binding says
 * `never`: only the caller of a run can approve it in advance.
 */
export function bindingAsks(binding: string | ToolBinding, info: Pick<ToolInfo, "id" | "kind">): boolean {
  const isTenantWrite = info.kind === "write" && info.id.startsWith("idp_");
  switch (asToolBinding(binding).confirm) {
    case "always":
      return true;
    case "writes":
      return info.kind === "write";
    case "never":
      return isTenantWrite;
    default:
      return isTenantWrite || askingTools.includes(info.id);
  }
}
