import type { AgentRecord } from "@gantry/sdk";

type Warning = AgentRecord["warnings"][number];

/** Says how to fix the warning in the form, if possible. */
export function warningText({ field, message }: Warning): string {
  const missing = field === "goal" && /^input_schema has no (.+)$/.exec(message)?.[1];
  if (!missing) return `${field}: ${message}`;
  return `The goal uses {{${missing}}}, but this input doesn't exist. Add it under Input.`;
}
