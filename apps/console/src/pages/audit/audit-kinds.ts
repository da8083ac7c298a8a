import type { Choice } from "../../ui/choice-filter.tsx";

/** The part of an action before the dot. */
export const auditKinds: readonly Choice[] = [
  { value: "session", label: "Sign-ins" },
  { value: "sign_in_link", label: "Sign-in links" },
  { value: "user", label: "Users" },
  { value: "key", label: "Keys" },
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
];
