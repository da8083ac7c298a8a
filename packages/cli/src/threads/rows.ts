import { type Argument, type Command, jsonOption, listOptions, serverOptions } from "../frame/command.ts";
import { yesOption } from "../shared/options.ts";

const group = "agents";
const usual = { ...jsonOption, ...serverOptions };
const thread: Argument = { name: "THREAD", meaning: "Id of the thread.", completes: "threads" };

export const threadCommands: readonly Command[] = [
  {
    name: "threads list",
    group,
    summary: "List your conversations with agents.",
    options: {
      agent: { type: "text", value: "AGENT", meaning: "Only threads of this agent.", completes: "agents" },
      ...listOptions,
      ...usual,
    },
    examples: [{ line: "threads list --agent clerk", meaning: "Conversations with one agent" }],
    load: async () => (await import("./threads.ts")).listThreads,
  },
  {
    name: "threads show",
    group,
    summary: "Show a conversation.",
    arguments: [thread],
    options: {
      before: {
        type: "text",
        value: "RUN",
        meaning: "Only turns before this run, for long threads.",
        completes: "runs",
      },
      ...usual,
    },
    examples: [{ line: "threads show ticket-7", meaning: "Its last 100 turns" }],
    load: async () => (await import("./threads.ts")).showThread,
  },
  {
    name: "threads delete",
    group,
    summary: "Delete a conversation and its runs.",
    arguments: [thread],
    options: { ...yesOption, ...usual },
    examples: [{ line: "threads delete ticket-7 --yes", meaning: "Delete without a question" }],
    load: async () => (await import("./threads.ts")).deleteThread,
  },
];
