import { type Argument, type Command, jsonOption, listOptions, type Option, serverOptions } from "../frame/command.ts";
import { agentArgument, runChanges, runLimits, yesOption } from "../shared/options.ts";

const group = "agents";
const usual = { ...jsonOption, ...serverOptions };
const trigger: Argument = { name: "TRIGGER", meaning: "Id of the trigger.", completes: "triggers" };
const shownOnce = "The URL contains a secret and is shown once.";
const deliveryOptions = {
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
} as const satisfies Record<string, Option>;

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
    details: `${shownOnce} For another user's agent you agree to its present price. While the price differs, deliveries are refused.`,
    arguments: [agentArgument],
    options: {
      name: { type: "text", value: "NAME", meaning: "Name of the trigger." },
      ...deliveryOptions,
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
    name: "triggers change",
    group,
    summary: "Change a trigger. Its URL stays the same.",
    details: "Give only what to change. Runs then use the key of this command.",
    arguments: [trigger],
    options: {
      ...deliveryOptions,
      thread: {
        type: "text",
        value: "TEMPLATE",
        meaning: "Conversation of a run, such as ticket-{{body.id}}; none: each run starts its own.",
      },
      ...runChanges,
      ...usual,
    },
    examples: [
      { line: "triggers change trg_123 --input input.json", meaning: "Another input" },
      { line: "triggers change trg_123 --expected-price 0.10", meaning: "Accept a new price" },
    ],
    load: async () => (await import("./triggers.ts")).changeTrigger,
  },
  {
    name: "triggers pause",
    group,
    summary: "Stop a trigger from starting runs. Its URL then answers 409.",
    arguments: [trigger],
    options: usual,
    examples: [{ line: "triggers pause trg_123", meaning: "Disable it" }],
    load: async () => (await import("./triggers.ts")).pauseTrigger,
  },
  {
    name: "triggers resume",
    group,
    summary: "Start a trigger again.",
    details: "Runs then use the key of this command.",
    arguments: [trigger],
    options: usual,
    examples: [{ line: "triggers resume trg_123", meaning: "Enable it" }],
    load: async () => (await import("./triggers.ts")).resumeTrigger,
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
