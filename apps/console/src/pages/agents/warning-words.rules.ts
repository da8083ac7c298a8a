import type { AgentRecord } from "@gantry/sdk";

type Warning = AgentRecord["warnings"][number];

/** A warning of the service, where it can be as what to do about it in the form. */
export function wordsOfWarning({ field, message }: Warning): string {
  const missing = field === "goal" && /^input_schema has no (.+)$/.exec(message)?.[1];
  if (!missing) return `${field}: ${message}`;
  return `The goal uses {{${missing}}}, but there is no such input: add it under Input`;
}
