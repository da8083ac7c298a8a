import { type Argument, type Command, jsonOption, listOptions, serverOptions } from "../frame/command.ts";
import { followCodes, followOptions } from "../runs/rows.ts";
import {
  agentArgument,
  fieldsArgument,
  inputOptions,
  ownAgentArgument,
  runLimits,
  yesOption,
} from "../shared/options.ts";

const group = "agents";
const usual = { ...jsonOption, ...serverOptions };
const file: Argument = {
  name: "FILE",
  meaning: "JSON file with the fields of the agent; - reads stdin.",
  completes: "files",
};
const publish = { publish: { type: "flag", meaning: "Publish the agent at once." } } as const;

export const agentCommands: readonly Command[] = [
  {
    name: "agents list",
    group,
    summary: "List your agents, or public agents of all users.",
    options: {
      public: { type: "flag", meaning: "List the marketplace: public agents of all users." },
      search: { type: "text", value: "TEXT", meaning: "Only agents of the marketplace that match." },
      ...listOptions,
      ...usual,
    },
    examples: [
      { line: "agents list", meaning: "Your agents" },
      { line: "agents list --public --search weather", meaning: "Search the marketplace" },
    ],
    load: async () => (await import("./list.ts")).listAgents,
  },
  {
    name: "agents show",
    group,
    summary: "Show an agent: its goal, tools, input and price.",
    arguments: [agentArgument],
    options: usual,
    examples: [
      { line: "agents show weather", meaning: "One of your agents" },
      { line: "agents show weather --json > weather.json", meaning: "Everything that is stored" },
    ],
    load: async () => (await import("./show.ts")).showAgent,
  },
  {
    name: "agents run",
    group,
    summary: "Run an agent and print its result.",
    details:
      "The result goes to stdout, steps and cost to stderr. In a terminal you are asked for approvals. Ctrl+C cancels the " +
      "run. With --queue the command prints the id of the run and ends.",
    arguments: [agentArgument, fieldsArgument],
    options: {
      ...followOptions,
      queue: { type: "flag", meaning: "Do not wait. Follow the run with gantry runs follow." },
      thread: {
        type: "text",
        value: "ID",
        meaning: "Conversation that the run continues, or a new one.",
        completes: "threads",
      },
      ...inputOptions,
      ...runLimits,
      "max-steps": { type: "number", value: "COUNT", meaning: "Most model calls; 50 by default." },
      timeout: { type: "number", value: "SECONDS", meaning: "Time limit without waits; 900 by default." },
      connector: {
        type: "text",
        meaning: "Something of yours that another user's agent may use. Repeat the option for several.",
        choices: ["idp", "models", "files"],
        many: true,
      },
      webhook: {
        type: "text",
        value: "URL",
        meaning: "URL to call when the run ends or asks for an approval.",
        completes: "plain",
      },
      "idempotency-key": { type: "text", value: "KEY", meaning: "A repeat with this key returns the same run." },
      ...usual,
    },
    examples: [
      { line: "agents run weather city=Berlin days:=3", meaning: "Run an agent and print what it answers" },
      { line: "agents run weather city=Berlin --follow", meaning: "Watch its steps" },
      { line: "agents run clerk question=@mail.txt --thread ticket-7", meaning: "Continue a conversation" },
      { line: "agents run ann/report --input data.json --max-cost 0.50 --queue", meaning: "Leave it working" },
    ],
    codes: followCodes,
    load: async () => (await import("./run.ts")).runAgent,
  },
  {
    name: "agents create",
    group,
    summary: "Create an agent from a JSON file.",
    arguments: [file],
    options: { ...publish, ...usual },
    examples: [{ line: "agents create weather.json --publish", meaning: "Create an agent that can run at once" }],
    load: async () => (await import("./change.ts")).createAgent,
  },
  {
    name: "agents update",
    group,
    summary: "Change fields of an agent.",
    details: "The file has only the fields to change. Runs use them once you publish the agent.",
    arguments: [ownAgentArgument, file],
    options: { ...publish, ...usual },
    examples: [{ line: "agents update weather change.json --publish", meaning: "Change an agent and publish it" }],
    load: async () => (await import("./change.ts")).updateAgent,
  },
  {
    name: "agents publish",
    group,
    summary: "Publish the latest revision of an agent, or a given one.",
    arguments: [ownAgentArgument],
    options: {
      revision: { type: "text", value: "ID", meaning: "Revision to publish, for example to roll back." },
      ...usual,
    },
    examples: [{ line: "agents publish weather", meaning: "Publish the draft" }],
    load: async () => (await import("./change.ts")).publishAgent,
  },
  {
    name: "agents delete",
    group,
    summary: "Delete an agent. Its runs stay readable.",
    arguments: [ownAgentArgument],
    options: { ...yesOption, ...usual },
    examples: [{ line: "agents delete weather --yes", meaning: "Delete without a question" }],
    load: async () => (await import("./change.ts")).deleteAgent,
  },
  {
    name: "agents templates",
    group,
    summary: "List templates for new agents.",
    options: jsonOption,
    examples: [{ line: "agents templates", meaning: "What gantry agents set-up takes" }],
    load: async () => (await import("./set-up.ts")).listTemplates,
  },
  {
    name: "agents set-up",
    group,
    summary: "Create an agent from a template, with its drives, schedule and trigger.",
    details:
      "Schedules are created disabled. If a step fails, everything is deleted again. For a file, what belongs to the agent is " +
      "read from the file with the same name and .setup.json, if it exists.",
    arguments: [
      {
        name: "TEMPLATE|FILE",
        meaning: "A template, or a JSON file with the fields of the agent.",
        completes: "files",
      },
    ],
    options: {
      name: { type: "text", value: "NAME", meaning: "Name of the agent." },
      model: { type: "text", value: "MODEL", meaning: "Model of the agent.", completes: "models" },
      setup: {
        type: "text",
        value: "FILE",
        meaning: "JSON file with drives, schedule and trigger.",
        completes: "files",
      },
      ...publish,
      ...usual,
    },
    examples: [
      {
        line: "agents set-up document-answers --model openai/gpt-5",
        meaning: "An agent that answers from your documents",
      },
      { line: "agents set-up ./my-agent.json --publish", meaning: "Your own file" },
    ],
    load: async () => (await import("./set-up.ts")).setUp,
  },
];
