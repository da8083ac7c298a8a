import { type Argument, type Command, jsonOption, listOptions, serverOptions } from "../frame/command.ts";

const group = "models";
const usual = { ...jsonOption, ...serverOptions };
const batch: Argument = { name: "BATCH", meaning: "Id of the batch.", completes: "batches" };
const endCodes = {
  1: "The batch failed, expired or was cancelled, or the server refused.",
  3: "The batch is complete, but some requests failed.",
  130: "Interrupted with Ctrl+C. The batch continues.",
};

export const batchCommands: readonly Command[] = [
  {
    name: "batches create",
    group,
    summary: "Run the requests of a file in the queue, within 24 hours.",
    details: "Each line of the file is a JSON object with custom_id, method, url and body.",
    arguments: [{ name: "FILE", meaning: "File with the requests.", completes: "files" }],
    options: {
      endpoint: {
        type: "text",
        value: "PATH",
        meaning: "The url of all requests; /v1/chat/completions by default.",
        choices: ["/v1/chat/completions", "/v1/embeddings", "/v1/responses"],
      },
      wait: { type: "flag", meaning: "Wait for the end and show the progress." },
      ...usual,
    },
    examples: [
      { line: "batches create requests.jsonl", meaning: "Return at once, with an id" },
      {
        line: "batches create texts.jsonl --endpoint /v1/embeddings --wait",
        meaning: "Embed texts, and wait for the end",
      },
    ],
    codes: endCodes,
    load: async () => (await import("./create.ts")).createBatch,
  },
  {
    name: "batches list",
    group,
    summary: "List your batches, newest first.",
    options: { ...listOptions, ...usual },
    examples: [{ line: "batches list", meaning: "What runs, and how far it is" }],
    load: async () => (await import("./batches.ts")).listBatches,
  },
  {
    name: "batches show",
    group,
    summary: "Show a batch: its progress, and what is wrong with its file.",
    arguments: [batch],
    options: usual,
    examples: [{ line: "batches show batch_123", meaning: "One batch" }],
    load: async () => (await import("./batches.ts")).showBatch,
  },
  {
    name: "batches wait",
    group,
    summary: "Wait for the end of a batch.",
    details: "Ctrl+C ends the command, not the batch.",
    arguments: [batch],
    options: usual,
    examples: [{ line: "batches wait batch_123 && gantry batches results batch_123", meaning: "Use it in a script" }],
    codes: endCodes,
    load: async () => (await import("./create.ts")).waitForBatch,
  },
  {
    name: "batches results",
    group,
    summary: "Print the results of a batch that has ended, one JSON object a line.",
    arguments: [batch],
    options: {
      errors: { type: "flag", meaning: "The requests that failed or never ran, instead of those that succeeded." },
      out: {
        type: "text",
        value: "FILE",
        short: "o",
        meaning: "File to write; - is stdout, the default.",
        completes: "files",
      },
      force: { type: "flag", short: "f", meaning: "Replace a file that exists." },
      ...serverOptions,
    },
    examples: [
      { line: "batches results batch_123 --out results.jsonl", meaning: "Save the results" },
      { line: "batches results batch_123 --errors | jq .error.code", meaning: "See why requests failed" },
    ],
    load: async () => (await import("./results.ts")).batchResults,
  },
  {
    name: "batches cancel",
    group,
    summary: "Cancel a batch. Results of requests that have ended stay.",
    arguments: [batch],
    options: usual,
    examples: [{ line: "batches cancel batch_123", meaning: "Stop it" }],
    load: async () => (await import("./batches.ts")).cancelBatch,
  },
];
