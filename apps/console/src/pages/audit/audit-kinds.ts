import type { Choice } from "../../ui/choice-filter.tsx";

/** All records, or those of the signed-in account. */
export type AuditScope = "all" | "own";

const ofService = ["plan", "settings", "installation"];

/** The part of an action before the dot. */
const kinds: readonly Choice[] = [
  { value: "session", label: "Sign-ins" },
  { value: "sign_in_link", label: "Sign-in links" },
  { value: "user", label: "Users" },
  { value: "key", label: "Keys" },
  { value: "team", label: "Teams" },
  { value: "member", label: "Members of teams" },
  { value: "plan", label: "Plans" },
  { value: "credit", label: "Credits" },
  { value: "model", label: "Models" },
  { value: "alias", label: "Aliases" },
  { value: "provider", label: "Providers" },
  { value: "secret", label: "Secrets" },
  { value: "webhook_secret", label: "Webhook secrets" },
  { value: "agent", label: "Agents" },
  { value: "confirmation", label: "Confirmations" },
  { value: "schedule", label: "Schedules" },
  { value: "trigger", label: "Triggers" },
  { value: "drive", label: "Drives" },
  { value: "tool_server", label: "Tool servers" },
  { value: "connector", label: "Identity connector" },
  { value: "settings", label: "Settings" },
  { value: "installation", label: "Installation" },
];

/** Objects of the service belong to no account. */
export const auditKinds = (scope: AuditScope): readonly Choice[] =>
  scope === "all" ? kinds : kinds.filter(({ value }) => !ofService.includes(value));
