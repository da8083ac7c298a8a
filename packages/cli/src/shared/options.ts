import type { Argument, Option } from "../frame/command.ts";

/** Options that several families have. */
export const yesOption = {
  yes: { type: "flag", short: "y", meaning: "Do not ask before deleting." },
} as const satisfies Record<string, Option>;

/** Options of commands that take the input of an agent. */
export const inputOptions = {
  input: {
    type: "text",
    value: "FILE",
    meaning: "File with the input as a JSON object; - reads stdin.",
    completes: "files",
  },
} as const satisfies Record<string, Option>;

export const runLimits = {
  "max-cost": { type: "text", value: "DOLLARS", meaning: "Most that a run may cost, sub-agents included." },
  approve: {
    type: "text",
    value: "TOOL",
    meaning: "Tool that may write without asking. Repeat it for several.",
    many: true,
  },
} as const satisfies Record<string, Option>;

export const agentArgument: Argument = {
  name: "AGENT",
  meaning: "Id, slug or name of one of your agents, or CREATOR/SLUG of a public one.",
  completes: "agents",
};

export const fieldsArgument: Argument = {
  name: "KEY=VALUE",
  meaning: "Fields of the input. KEY:=JSON gives JSON, KEY=@FILE the text of a file, KEY=- the text on stdin.",
  optional: true,
  many: true,
};
