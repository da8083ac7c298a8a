import type { AuditObjectType } from "@gantry/sdk";
import type { Choice } from "../../ui/choice-filter.tsx";

/** All records, or those of the signed-in account. */
export type AuditScope = "all" | "own";

const ofService = ["plan", "settings", "installation"];

/** The part of an action before the dot. */
const labels: Readonly<Record<AuditObjectType, string>> = {
  session: "Sign-ins",
  sign_in_link: "Sign-in links",
  user: "Users",
  key: "Keys",
  team: "Teams",
  member: "Members of teams",
  plan: "Plans",
  credit: "Credits",
  notice_settings: "Settings of notices",
  model: "Models",
  alias: "Aliases",
  provider: "Providers",
  secret: "Secrets",
  webhook_secret: "Webhook secrets",
  agent: "Agents",
  confirmation: "Confirmations",
  schedule: "Schedules",
  trigger: "Triggers",
  drive: "Drives",
  tool_server: "Tool servers",
  connector: "Identity connector",
  settings: "Settings",
  installation: "Installation",
};

const kinds: readonly Choice[] = Object.entries(labels).map(([value, label]) => ({ value, label }));

/** Objects of the service belong to no account. */
export const auditKinds = (scope: AuditScope): readonly Choice[] =>
  scope === "all" ? kinds : kinds.filter(({ value }) => !ofService.includes(value));
