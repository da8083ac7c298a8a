import type { ToolRecord } from "@gantry/sdk";

/** The first whose beginning fits counts, so the longer ones come first. */
const groups: readonly [beginning: string, name: string][] = [
  ["drive_", "Drives"],
  ["idp_user", "Identity: users"],
  ["idp_role", "Identity: roles"],
  ["idp_client", "Identity: clients"],
  ["idp_connection", "Identity: connections"],
  ["idp_resource_server", "Identity: resource servers"],
  ["idp_grant", "Identity: grants"],
  ["idp_log", "Identity: logs"],
  ["idp_rule", "Identity: rules"],
  ["idp_action", "Identity: actions"],
  ["idp_organization", "Identity: organizations"],
  ["idp_tenant", "Identity: tenant settings"],
  ["idp_email", "Identity: email templates"],
  ["idp_", "Identity"],
];

const groupOf = (id: string): string => groups.find(([beginning]) => id.startsWith(beginning))?.[1] ?? "General";

export interface ToolGroup {
  name: string;
  tools: ToolRecord[];
}

/** The tools in which every word occurs, group by group, in the order of the service. */
export function toolGroups(tools: readonly ToolRecord[], wanted: string): ToolGroup[] {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const found = new Map<string, ToolRecord[]>();
  for (const tool of tools) {
    const name = groupOf(tool.id);
    const said = `${tool.id} ${tool.description} ${name} ${tool.kind}`.toLowerCase();
    if (!words.every((word) => said.includes(word))) continue;
    found.set(name, [...(found.get(name) ?? []), tool]);
  }
  return [...found].map(([name, ofGroup]) => ({ name, tools: ofGroup }));
}
