import type { AgentRecord } from "@gantry/sdk";

type Warning = AgentRecord["warnings"][number];

/** A warning as a sentence, with the page that fixes it. */
export interface WarningText {
  text: string;
  fix?: { label: string; to: "/identity" | "/drives" | "/tool-servers" | "/secrets" };
}

interface Rule {
  field: string;
  message: RegExp;
  text(found: RegExpExecArray): WarningText;
}

const rules: readonly Rule[] = [
  {
    field: "goal",
    message: /^input_schema has no (.+)$/,
    text: ([, name]) => ({ text: `The goal uses {{${name}}}, but this input doesn't exist. Add it under Inputs.` }),
  },
  {
    field: "tools",
    message: /^The agent has an identity tool that your runs cannot use: (.+)$/,
    text: ([, problem = ""]) =>
      /not set up/.test(problem)
        ? {
            text: "The agent has identity tools, but no identity tenant is connected.",
            fix: { label: "Connect an identity tenant", to: "/identity" },
          }
        : {
            text: "The identity tenant can't be used with its stored token.",
            fix: { label: "Renew the token", to: "/identity" },
          },
  },
  {
    field: "drives",
    message: /^The agent has a drive tool, but no drive$/,
    text: () => ({
      text: "The agent has drive tools, but no drive. Choose one under Knowledge.",
      fix: { label: "Create a drive", to: "/drives" },
    }),
  },
  {
    field: "tools",
    message: /^The fixed header .+ is stored as plain text\..*$/,
    text: ([message]) => ({ text: message, fix: { label: "Store a secret", to: "/secrets" } }),
  },
  {
    field: "mcp_servers",
    message: /^.+$/,
    text: ([message]) => ({ text: ended(message), fix: { label: "Check the tool server", to: "/tool-servers" } }),
  },
];

const ended = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`);

export function warningText({ field, message }: Warning): WarningText {
  for (const rule of rules) {
    const found = rule.field === field ? rule.message.exec(message) : null;
    if (found) return rule.text(found);
  }
  return { text: ended(message) };
}
