import type { ToolRecord } from "@gantry/sdk";

/** The first matching prefix wins, so longer prefixes come first. */
const groups: readonly [prefix: string, name: string][] = [
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

const groupOf = (id: string): string => groups.find(([prefix]) => id.startsWith(prefix))?.[1] ?? "General";

export interface ToolGroup {
  name: string;
  tools: ToolRecord[];
}

/** Tools that match every search term, grouped. */
export function toolGroups(tools: readonly ToolRecord[], wanted: string): ToolGroup[] {
  const terms = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const found = new Map<string, ToolRecord[]>();
  for (const tool of tools) {
    const name = groupOf(tool.id);
    const text = `${tool.id} ${tool.description} ${name} ${tool.kind}`.toLowerCase();
    if (!terms.every((term) => text.includes(term))) continue;
    found.set(name, [...(found.get(name) ?? []), tool]);
  }
  return [...found].map(([name, ofGroup]) => ({ name, tools: ofGroup }));
}
