import { type Argument, type Command, jsonOption, listOptions, serverOptions } from "../frame/command.ts";
import { agentArgument, runLimits, yesOption } from "../shared/options.ts";

const group = "agents";
const usual = { ...jsonOption, ...serverOptions };
const trigger: Argument = { name: "TRIGGER", meaning: "Id of the trigger.", completes: "triggers" };
const shownOnce = "The URL contains a secret and is shown once.";

export const triggerCommands: readonly Command[] = [
  {
    name: "triggers list",
    group,
    summary: "List addresses that start runs of your agents.",
    options: {
      agent: { type: "text", value: "AGENT", meaning: "Only triggers of this agent.", completes: "agents" },
      ...listOptions,
      ...usual,
    },
    examples: [{ line: "triggers list", meaning: "All your triggers" }],
    load: async () => (await import("./triggers.ts")).listTriggers,
  },
  {
    name: "triggers create",
    group,
    summary: "Create an address to which other services post to run an agent.",
    details: shownOnce,
    arguments: [agentArgument],
    options: {
      name: { type: "text", value: "NAME", meaning: "Name of the trigger." },
      input: {
        type: "text",
        value: "FILE",
        meaning: "JSON file with templates of the input, such as {{body.message}}; - reads stdin.",
        completes: "files",
      },
      verify: {
        type: "text",
        meaning: "Signature of the sender to check.",
        choices: ["github", "stripe", "standard_webhooks", "hmac"],
      },
      "secret-env": { type: "text", value: "VARIABLE", meaning: "Variable with the secret of the signature." },
      "secret-stdin": { type: "flag", meaning: "Read the secret of the signature from stdin." },
      header: { type: "text", value: "HEADER", meaning: "Header of the signature, with --verify hmac." },
      overlap: { type: "text", meaning: "Several deliveries at a time.", choices: ["parallel", "queue"] },
      thread: { type: "text", value: "TEMPLATE", meaning: "Conversation of a run, such as ticket-{{body.id}}." },
      ...runLimits,
      ...usual,
    },
    examples: [
      { line: "triggers create greeter", meaning: "The body of a request is the input" },
      {
        line: "triggers create triage --verify github --secret-env HOOK_SECRET --input input.json",
        meaning: "New issues of a repository",
      },
    ],
    load: async () => (await import("./triggers.ts")).createTrigger,
  },
  {
    name: "triggers show",
    group,
    summary: "Show a trigger and what it received last.",
    arguments: [trigger],
    options: usual,
    examples: [{ line: "triggers show trg_123", meaning: "With refused deliveries and their reasons" }],
    load: async () => (await import("./triggers.ts")).showTrigger,
  },
  {
    name: "triggers rotate",
    group,
    summary: "Replace the URL of a trigger. The old one stops working at once.",
    details: shownOnce,
    arguments: [trigger],
    options: { yes: { type: "flag", short: "y", meaning: "Do not ask before replacing." }, ...usual },
    examples: [{ line: "triggers rotate trg_123 --yes", meaning: "After the URL became known to others" }],
    load: async () => (await import("./triggers.ts")).rotateTrigger,
  },
  {
    name: "triggers delete",
    group,
    summary: "Delete a trigger.",
    arguments: [trigger],
    options: { ...yesOption, ...usual },
    examples: [{ line: "triggers delete trg_123 --yes", meaning: "Delete without a question" }],
    load: async () => (await import("./triggers.ts")).deleteTrigger,
  },
];
