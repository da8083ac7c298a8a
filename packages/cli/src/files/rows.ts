import { type Argument, type Command, jsonOption, listOptions, serverOptions } from "../frame/command.ts";
import { yesOption } from "../shared/options.ts";

const group = "models";
const usual = { ...jsonOption, ...serverOptions };
const file: Argument = { name: "FILE", meaning: "Id or s3:// address of the file." };

export const fileCommands: readonly Command[] = [
  {
    name: "files list",
    group,
    summary: "List your uploads and the outputs of predictions.",
    options: {
      search: { type: "text", value: "TEXT", meaning: "Part of the name, or an id." },
      origin: { type: "text", meaning: "Where files come from.", choices: ["uploaded", "link", "output"] },
      ...listOptions,
      ...usual,
    },
    examples: [{ line: "files list --origin output", meaning: "What models have created" }],
    load: async () => (await import("./files.ts")).listFiles,
  },
  {
    name: "files upload",
    group,
    summary: "Upload files, and print their addresses for inputs of models.",
    arguments: [{ name: "FILE", meaning: "Files on this machine.", completes: "files", many: true }],
    options: {
      model: {
        type: "text",
        value: "MODEL",
        meaning: "A model that your key may call; the first one by default.",
        completes: "models",
      },
      ...usual,
    },
    examples: [{ line: "files upload photo.png", meaning: "Prints s3://…, the value of a file field" }],
    codes: { 3: "Some files were not uploaded. They are listed on stderr." },
    load: async () => (await import("./files.ts")).uploadFiles,
  },
  {
    name: "files download",
    group,
    summary: "Download a file.",
    arguments: [file],
    options: {
      out: {
        type: "text",
        value: "FILE",
        short: "o",
        meaning: "File or folder to write; - is stdout. By default its name in this folder.",
        completes: "files",
      },
      force: { type: "flag", meaning: "Replace a file that exists." },
      ...usual,
    },
    examples: [{ line: "files download file_123 --out picture.png", meaning: "Save a file under a name" }],
    load: async () => (await import("./files.ts")).downloadFile,
  },
  {
    name: "files delete",
    group,
    summary: "Delete files.",
    arguments: [{ ...file, many: true }],
    options: { ...yesOption, ...usual },
    examples: [{ line: "files delete file_123 --yes", meaning: "Delete without a question" }],
    codes: { 3: "Some files were not deleted. They are listed on stderr." },
    load: async () => (await import("./files.ts")).deleteFiles,
  },
];
