import { type Argument, type Command, jsonOption, listOptions, type Option, serverOptions } from "../frame/command.ts";

/** Gantry's key is not among them: `--key` would be taken for that of the provider. */
const providerOptions = {
  server: { type: "text", value: "URL", meaning: "Address of Gantry (GANTRY_URL); --url is that of the provider." },
  profile: serverOptions.profile,
  team: serverOptions.team,
  everyone: { type: "flag", meaning: "Use the providers of all users, as an admin." },
  ...jsonOption,
} as const satisfies Record<string, Option>;

const modelArgument = { name: "MODEL", meaning: "As owner/model.", completes: "models" } as const satisfies Argument;

export const modelCommands: readonly Command[] = [
  {
    name: "models list",
    group: "models",
    summary: "List the models that you may call.",
    arguments: [{ name: "SEARCH", meaning: "A part of the name or the title.", optional: true }],
    options: {
      kind: {
        type: "text",
        value: "KIND",
        choices: ["image", "video", "text", "embedding", "other"],
        meaning: "Only models of this kind.",
      },
      ...listOptions,
      ...serverOptions,
      ...jsonOption,
    },
    examples: [
      { line: "models list", meaning: "See models and prices" },
      { line: "models list llama --kind text", meaning: "Search" },
    ],
    load: async () => (await import("./catalog.ts")).listModels,
  },
  {
    name: "models show",
    group: "models",
    summary: "Show a model: price, input, output and an example.",
    details: "Fields with * are required.",
    arguments: [modelArgument],
    options: { ...serverOptions, ...jsonOption },
    examples: [{ line: "models show gantry/image", meaning: "See what the model takes" }],
    load: async () => (await import("./catalog.ts")).showModel,
  },
  {
    name: "models put",
    group: "models",
    summary: "Create or replace a model from a manifest.",
    arguments: [modelArgument, { name: "FILE", meaning: "The manifest as JSON; - for stdin.", completes: "files" }],
    options: { ...serverOptions, ...jsonOption },
    examples: [
      { line: "models put ann/upscaler upscaler.json", meaning: "Save a model" },
      { line: "models put ann/upscaler - < upscaler.json", meaning: "Read the manifest from stdin" },
    ],
    load: async () => (await import("./catalog.ts")).putModel,
  },
  {
    name: "models delete",
    group: "models",
    summary: "Delete a model of yours.",
    arguments: [modelArgument],
    options: { yes: { type: "flag", short: "y", meaning: "Do not ask." }, ...serverOptions, ...jsonOption },
    examples: [{ line: "models delete ann/upscaler", meaning: "Delete a model after a question" }],
    load: async () => (await import("./catalog.ts")).deleteModel,
  },
  {
    name: "models connect",
    group: "models",
    summary: "Connect a vendor, or a server that you run, and import its models.",
    details: "Asks in a terminal for what you leave out.",
    options: {
      type: { type: "text", value: "TYPE", meaning: "Kind of the provider, such as ollama or openai." },
      url: { type: "text", value: "URL", meaning: "Address of the provider." },
      name: { type: "text", value: "NAME", meaning: "Name of the provider; its type by default." },
      "key-stdin": { type: "flag", meaning: "Read the key of the provider from stdin." },
      "key-env": { type: "text", value: "VARIABLE", meaning: "Read the key of the provider from a variable." },
      ...providerOptions,
    },
    examples: [
      { line: "models connect", meaning: "Answer questions" },
      { line: "models connect --type ollama", meaning: "Connect Ollama on this machine" },
      { line: "models connect --type openai --key-env OPENAI_API_KEY", meaning: "Connect a vendor without questions" },
    ],
    codes: { 0: "Connected.", 1: "Saved, but the test failed, or the server refused." },
    load: async () => (await import("./connect.ts")).connectProvider,
  },
  {
    name: "models import",
    group: "models",
    summary: "Import models of a provider by their ids there, or all.",
    details: "Without ids, update the models imported before.",
    arguments: [
      { name: "NAME", meaning: "The provider.", completes: "providers" },
      { name: "ID", meaning: "Models, by their ids at the provider.", optional: true, many: true },
    ],
    options: {
      all: { type: "flag", meaning: "Import all models of the provider." },
      "price-in": { type: "text", value: "DOLLARS", meaning: "Price of a million input tokens." },
      "price-out": { type: "text", value: "DOLLARS", meaning: "Price of a million output tokens." },
      "price-each": { type: "text", value: "DOLLARS", meaning: "Price of an image, a video or a run." },
      ...providerOptions,
    },
    examples: [
      { line: "models import ollama --all", meaning: "Import everything" },
      {
        line: "models import openai gpt-5-mini --price-in 0.25 --price-out 2",
        meaning: "Import one model with a price",
      },
    ],
    codes: { 0: "Done.", 1: "Some models failed, or the server refused." },
    load: async () => (await import("./import.ts")).importModels,
  },
  {
    name: "models test",
    group: "models",
    summary: "Make one cheap call to a provider and say what is wrong.",
    arguments: [{ name: "NAME", meaning: "The provider.", completes: "providers" }],
    options: {
      model: { type: "text", value: "ID", meaning: "A model, by its id at the provider." },
      ...providerOptions,
    },
    examples: [{ line: "models test ollama", meaning: "Check that Ollama answers" }],
    codes: { 0: "The provider answered.", 1: "The provider did not answer, or the server refused." },
    load: async () => (await import("./test.ts")).testProvider,
  },
];
