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
    meaning: "Tool that may write without asking. Repeat the option for several.",
    many: true,
  },
} as const satisfies Record<string, Option>;

/** What can be changed of a schedule or a trigger that exists. */
export const runChanges = {
  name: { type: "text", value: "NAME", meaning: "New name." },
  "max-cost": { ...runLimits["max-cost"], meaning: "Most that a run may cost, sub-agents included; none: no limit." },
  approve: {
    ...runLimits.approve,
    meaning:
      "Tools that may write without asking, instead of those before. Repeat the option for several; none: no tool.",
  },
  "expected-price": {
    type: "text",
    value: "DOLLARS",
    meaning: "Price of another user's agent that you accept; any: every price.",
  },
} as const satisfies Record<string, Option>;

/** Limits of a key, or of a member of a team. */
export const limitOptions = (subject: "key" | "member") =>
  ({
    "monthly-limit": {
      type: "text",
      value: "DOLLARS",
      meaning: `Most that the ${subject} may spend in a month; none: no limit.`,
    },
    "daily-limit": {
      type: "text",
      value: "DOLLARS",
      meaning: `Most that the ${subject} may spend in a day; none: no limit.`,
    },
    "tokens-per-minute": {
      type: "text",
      value: "COUNT",
      meaning: "Most input and output tokens of predictions accepted within a minute; none: no limit.",
    },
  }) as const satisfies Record<string, Option>;

export const agentArgument: Argument = {
  name: "AGENT",
  meaning: "Id, slug or name of one of your agents, or CREATOR/SLUG of a public one.",
  completes: "agents",
};

/** For commands that change an agent. */
export const ownAgentArgument: Argument = { ...agentArgument, meaning: "Id, slug or name of one of your agents." };

export const fieldsArgument: Argument = {
  name: "KEY=VALUE",
  meaning: "Fields of the input. KEY:=JSON gives JSON, KEY=@FILE the text of a file, KEY=- the text on stdin.",
  optional: true,
  many: true,
};
