import type { AgentBinding, AgentTool, ToolBinding } from "@gantry/wire";
import type { Issue } from "../../kernel/errors.ts";
import type { ToolInfo } from "./tools.ts";

/** What a binding is known by: a tool's id, or `agent:<id>`. */
export function bindingId(tool: AgentTool): string {
  if (typeof tool === "string") return tool;
  return tool.type === "agent" ? `agent:${tool.agent_id}` : tool.id;
}

export function isAgentBinding(tool: AgentTool): tool is AgentBinding {
  return typeof tool !== "string" && tool.type === "agent";
}

/** Whether a tool, as a run calls it, acts on the identity tenant. A server's tool has two underscores in its name. */
export function isConnectorAction(toolName: string): boolean {
  return toolName.startsWith("idp_") && !toolName.includes("__");
}

/** A bare id is the binding that says nothing more. */
export function asToolBinding(tool: string | ToolBinding): ToolBinding {
  return typeof tool === "string" ? { type: "tool", id: tool } : tool;
}

export function boundAgentIds(tools: readonly AgentTool[]): string[] {
  return tools.filter(isAgentBinding).map(({ agent_id }) => agent_id);
}

/** Everything that can be said about the bindings of tools without looking anything up but the table of tools. */
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
    if (!info) issues.push({ type: "value_error", loc: idLoc, msg: `There is no tool ${id}` });
    else issues.push(...bindingIssues(asToolBinding(tool), info, loc));
  }
  return issues;
}

function bindingIssues(binding: ToolBinding, info: ToolInfo, loc: readonly (string | number)[]): Issue[] {
  const issues: Issue[] = [];
  if (binding.confirm === "never" && info.kind === "write" && info.id.startsWith("idp_")) {
    const msg = "A write to the identity tenant always asks; only the caller of a run can approve it beforehand";
    issues.push({ type: "value_error", loc: [...loc, "confirm"], msg });
  }
  // Some actions take more than their table names: the records of the tenant are that large.
  if (info.parameters.additionalProperties === true) return issues;
  const known = (info.parameters.properties ?? {}) as object;
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

/** Two tools that the model would call by one name. `names` are the names of the agents that are bound, by id. */
export function nameIssues(tools: readonly AgentTool[], names: ReadonlyMap<string, string>): Issue[] {
  const issues: Issue[] = [];
  const taken = new Set(tools.filter((tool) => !isAgentBinding(tool)).map(bindingId));
  for (const [at, tool] of tools.entries()) {
    if (!isAgentBinding(tool)) continue;
    const name = tool.name ?? names.get(tool.agent_id);
    if (name === undefined) continue;
    if (taken.has(name)) {
      issues.push({ type: "value_error", loc: ["body", "tools", at, "name"], msg: `Another tool is called ${name}` });
    }
    taken.add(name);
  }
  return issues;
}

/** The tools beside the writes to the identity tenant that ask where their binding says nothing. */
const askingTools: readonly string[] = ["drive_delete"];

/**
 * Whether a call of a bound tool waits for the caller's confirmation. A write to the identity tenant always does, also
 * where an old binding says `never`: only the caller of a run can waive that.
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
