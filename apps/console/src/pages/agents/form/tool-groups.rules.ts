import type { ToolRecord } from "@gantry/sdk";

/** The first matching prefix wins, so longer prefixes come first. */
const identityGroups: readonly [prefix: string, name: string][] = [
  ["idp_user", "Users"],
  ["idp_role", "Roles"],
  ["idp_client", "Clients"],
  ["idp_connection", "Connections"],
  ["idp_resource_server", "Resource servers"],
  ["idp_grant", "Grants"],
  ["idp_log", "Logs"],
  ["idp_rule", "Rules"],
  ["idp_action", "Actions"],
  ["idp_organization", "Organizations"],
  ["idp_tenant", "Tenant settings"],
  ["idp_email", "Email templates"],
  ["idp_", "Other"],
];

const builtInGroups: readonly [prefix: string, name: string][] = [
  ["drive_", "Drives"],
  ["web_", "Web"],
  ["http_", "Web"],
  ["run_javascript", "Code"],
];

export const isIdentityTool = (id: string): boolean => id.startsWith("idp_");

const groupOf = (id: string): string => {
  if (isIdentityTool(id)) return identityGroups.find(([prefix]) => id.startsWith(prefix))?.[1] ?? "Other";
  return builtInGroups.find(([prefix]) => id.startsWith(prefix))?.[1] ?? "General";
};

export interface ToolGroup {
  name: string;
  tools: ToolRecord[];
}

/** Whether the text has every search term. */
export function matches(text: string, wanted: string): boolean {
  const whole = text.toLowerCase();
  return wanted
    .toLowerCase()
    .split(/\s+/)
    .every((term) => whole.includes(term));
}

/** Tools of one provider that match the search, grouped. */
export function toolGroups(tools: readonly ToolRecord[], wanted: string): ToolGroup[] {
  const found = new Map<string, ToolRecord[]>();
  for (const tool of tools) {
    const name = groupOf(tool.id);
    const provider = isIdentityTool(tool.id) ? "identity" : "built in";
    if (!matches(`${tool.id} ${tool.description} ${name} ${provider} ${tool.kind}`, wanted)) continue;
    found.set(name, [...(found.get(name) ?? []), tool]);
  }
  return [...found].map(([name, ofGroup]) => ({ name, tools: ofGroup }));
}
