import { type Argument, type Command, jsonOption, listOptions, type Option, serverOptions } from "../frame/command.ts";

const group = "agents";
const run: Argument = { name: "RUN", meaning: "Id of the run.", completes: "runs" };
const usual = { ...jsonOption, ...serverOptions };

/** Options of commands that follow a run. */
export const followOptions = {
  follow: { type: "flag", short: "f", meaning: "Show steps and text as they come, on stderr." },
  yes: { type: "flag", short: "y", meaning: "Approve everything that the run asks for." },
} as const satisfies Record<string, Option>;

export const followCodes = {
  1: "The run failed, or the server refused.",
  4: "The run waits for an approval, and no terminal is there to ask.",
  130: "Interrupted with Ctrl+C.",
};

const answer = (verb: "approve" | "deny", done: string): Command => ({
  name: `runs ${verb}`,
  group,
  summary: `${verb === "approve" ? "Approve" : "Deny"} what a run asks for.`,
  details: `Without CONFIRMATION, the run must wait for one approval only. ${done}`,
  arguments: [run, { name: "CONFIRMATION", meaning: "Id of the confirmation. See gantry runs inbox.", optional: true }],
  options: {
    reason: { type: "text", value: "TEXT", meaning: "Reason, which the agent sees." },
    all: { type: "flag", meaning: "Answer all pending approvals of the run." },
    ...usual,
  },
  examples: [
    {
      line: `runs ${verb} run_123`,
      meaning: `${verb === "approve" ? "Approve" : "Deny"} the tool call that a run waits for`,
    },
  ],
  codes: { 3: "With --all: some approvals could not be answered." },
  load: async () => (await import("./answer.ts"))[verb],
});

export const runCommands: readonly Command[] = [
  {
    name: "runs list",
    group,
    summary: "List your runs, newest first.",
    options: {
      agent: { type: "text", value: "AGENT", meaning: "Only runs of this agent.", completes: "agents" },
      status: {
        type: "text",
        meaning: "Only runs with this status.",
        choices: ["pending", "running", "done", "error"],
      },
      waiting: { type: "flag", meaning: "Only runs that wait for your answer." },
      thread: { type: "text", value: "ID", meaning: "Only runs of this thread.", completes: "threads" },
      from: { type: "text", value: "TIME", meaning: "Only runs created since then: 7d, or a date and time." },
      to: { type: "text", value: "TIME", meaning: "Only runs created until then: 1h, or a date and time." },
      ...listOptions,
      ...usual,
    },
    examples: [
      { line: "runs list --status error --limit 5", meaning: "The last five failures" },
      { line: "runs list --agent weather --json", meaning: "Runs of an agent as JSON" },
    ],
    load: async () => (await import("./list.ts")).listRuns,
  },
  {
    name: "runs show",
    group,
    summary: "Show a run with its steps, cost and output.",
    arguments: [run],
    options: usual,
    examples: [{ line: "runs show run_123", meaning: "One run" }],
    load: async () => (await import("./show.ts")).showRun,
  },
  {
    name: "runs follow",
    group,
    summary: "Show a run while it works, and print its result.",
    details:
      "Steps go to stderr, the result to stdout. A lost connection is resumed. Ctrl+C leaves the run working. " +
      "In a terminal you are asked for approvals.",
    arguments: [run],
    options: {
      yes: followOptions.yes,
      ...usual,
      json: { type: "flag", meaning: "Print each event as a line of JSON." },
    },
    examples: [{ line: "runs follow run_123", meaning: "Watch a run that works in the background" }],
    codes: followCodes,
    load: async () => (await import("./follow.ts")).follow,
  },
  answer("approve", "The tool then runs with exactly the arguments shown."),
  answer("deny", "The agent learns that the call was denied, and goes on."),
  {
    name: "runs inbox",
    group,
    summary: "List what waits for your approval.",
    options: { ...listOptions, ...usual },
    examples: [{ line: "runs inbox", meaning: "Pending approvals of all your runs" }],
    load: async () => (await import("./inbox.ts")).showInbox,
  },
  {
    name: "runs cancel",
    group,
    summary: "Cancel runs and their sub-agents.",
    arguments: [{ ...run, many: true }],
    options: usual,
    examples: [{ line: "runs cancel run_123", meaning: "Cancel one run" }],
    codes: { 3: "Some runs could not be cancelled." },
    load: async () => (await import("./cancel.ts")).cancelRuns,
  },
  {
    name: "runs trace",
    group,
    summary: "Show where the time and the money of a run went.",
    details: "Model calls, tool calls, sub-agents and waits as a tree, with durations and cost.",
    arguments: [run],
    options: {
      step: { type: "text", value: "ID", meaning: "Show one step with its messages, arguments and result." },
      ids: { type: "flag", meaning: "Show the ids of the steps." },
      ...usual,
    },
    examples: [
      { line: "runs trace run_123", meaning: "The tree of a run" },
      { line: "runs trace run_123 --ids", meaning: "With the ids that --step takes" },
    ],
    load: async () => (await import("./trace.ts")).traceRun,
  },
];
