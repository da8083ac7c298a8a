import { type Argument, type Command, jsonOption, listOptions, type Option, serverOptions } from "../frame/command.ts";

const outOptions = {
  out: {
    type: "text",
    value: "FILE|FOLDER",
    short: "o",
    meaning: "Where to save the result; - for stdout. Without it, text is printed and files are saved in this folder.",
    completes: "files",
  },
  force: { type: "flag", short: "f", meaning: "Replace files that exist." },
} as const satisfies Record<string, Option>;

const idArgument = {
  name: "ID",
  meaning: "The id of a prediction.",
  completes: "predictions",
} as const satisfies Argument;

export const predictionCommands: readonly Command[] = [
  {
    name: "predict",
    group: "models",
    summary: "Run a model and print its result.",
    details:
      "Fields are converted to the types that the model takes. Text is printed while it is written; files are " +
      "downloaded. Ctrl+C cancels the prediction, unless it was queued.",
    arguments: [
      { name: "MODEL", meaning: "As owner/model.", completes: "models" },
      {
        name: "FIELD=VALUE",
        meaning:
          "An input: name=text, name=@file, name=- for stdin, name:=json. Repeat a name for a list. A text without a name is the prompt.",
        optional: true,
        many: true,
        completes: "fields",
      },
    ],
    options: {
      ...outOptions,
      stream: { type: "flag", meaning: "Print output while it is produced; with --json as one event per line." },
      wait: { type: "flag", meaning: "Print the result at the end; with --queue, wait for the end." },
      queue: { type: "flag", short: "q", meaning: "Queue the prediction and print its id." },
      webhook: { type: "text", value: "URL", meaning: "With --queue: a URL to call at the end.", completes: "plain" },
      "idempotency-key": {
        type: "text",
        value: "KEY",
        meaning: "A repeat with the same key returns the first prediction and costs nothing.",
        completes: "plain",
      },
      ...serverOptions,
      ...jsonOption,
    },
    examples: [
      { line: 'predict gantry/text "Why is the sky blue?"', meaning: "Stream an answer" },
      {
        line: 'predict gantry/image prompt="a lighthouse" size=1280x720 --out lighthouse.jpg',
        meaning: "Save a picture",
      },
      { line: 'predict gantry/image prompt="a gallery" image=@photo.jpg', meaning: "Send a file" },
      {
        line: 'predict gantry/text prompt=- system="Review this change."',
        meaning: "Read a field from stdin",
      },
      { line: 'predict gantry/image prompt="a harbour" --queue', meaning: "Return at once, with an id" },
    ],
    load: async () => (await import("./predict.ts")).predict,
  },
  {
    name: "predictions list",
    group: "models",
    summary: "List your predictions, newest first.",
    options: {
      model: { type: "text", value: "MODEL", meaning: "Only this model.", completes: "models" },
      status: {
        type: "text",
        value: "STATUS",
        choices: ["waiting", "running", "succeeded", "failed", "cancelled"],
        meaning: "Only predictions in this state.",
      },
      mode: {
        type: "text",
        value: "MODE",
        choices: ["sync", "stream", "async", "agent"],
        meaning: "Only predictions that were called this way.",
      },
      from: { type: "text", value: "TIME", meaning: "A date, or a span before now such as 12h." },
      ...listOptions,
      ...serverOptions,
      ...jsonOption,
    },
    examples: [
      { line: "predictions list --status failed --from 24h", meaning: "See what failed since yesterday" },
      { line: "predictions list --all --json | jq '[.[].price] | add'", meaning: "Add up prices" },
    ],
    load: async () => (await import("./history.ts")).listPredictions,
  },
  {
    name: "predictions show",
    group: "models",
    summary: "Show a prediction with its input and output, as long as they are kept.",
    arguments: [idArgument],
    options: { ...serverOptions, ...jsonOption },
    examples: [{ line: "predictions show pred_1a2b3c", meaning: "See input, output, time and price" }],
    load: async () => (await import("./history.ts")).showPrediction,
  },
  {
    name: "predictions wait",
    group: "models",
    summary: "Wait for the end of a prediction and print its result, as predict does.",
    arguments: [idArgument],
    options: { ...outOptions, ...serverOptions, ...jsonOption },
    examples: [{ line: "predictions wait pred_1a2b3c --out picture.png", meaning: "Save the result of queued work" }],
    load: async () => (await import("./history.ts")).waitForPrediction,
  },
  {
    name: "predictions cancel",
    group: "models",
    summary: "Cancel a prediction that waits or runs.",
    arguments: [idArgument],
    options: { ...serverOptions, ...jsonOption },
    examples: [{ line: "predictions cancel pred_1a2b3c", meaning: "Stop the work" }],
    load: async () => (await import("./history.ts")).cancelPrediction,
  },
];
