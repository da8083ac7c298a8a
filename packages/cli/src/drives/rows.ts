import { type Argument, type Command, jsonOption, listOptions, type Option, serverOptions } from "../frame/command.ts";
import { yesOption } from "../shared/options.ts";

const group = "agents";
const usual = { ...jsonOption, ...serverOptions };
const drive: Argument = { name: "DRIVE", meaning: "Id or name of the drive.", completes: "drives" };
const place: Argument = { name: "DRIVE:PATH", meaning: "Drive, by id or name, and a path on it.", completes: "drives" };
const recursive = {
  recursive: { type: "flag", short: "r", meaning: "Include directories with all their files." },
} as const satisfies Record<string, Option>;

export const driveCommands: readonly Command[] = [
  {
    name: "drives list",
    group,
    summary: "List your drives.",
    options: { ...listOptions, ...usual },
    examples: [{ line: "drives list", meaning: "Your drives and their indexes" }],
    load: async () => (await import("./drives.ts")).listDrives,
  },
  {
    name: "drives create",
    group,
    summary: "Create a drive.",
    arguments: [{ name: "NAME", meaning: "Name of the drive." }],
    options: {
      description: { type: "text", value: "TEXT", meaning: "What the drive is for." },
      index: { type: "flag", meaning: "Make the files searchable by words." },
      "embedding-model": {
        type: "text",
        value: "MODEL",
        meaning: "Make the files searchable by meaning too.",
        completes: "models",
      },
      ...usual,
    },
    examples: [{ line: "drives create handbook --index", meaning: "A drive that agents can search" }],
    load: async () => (await import("./drives.ts")).createDrive,
  },
  {
    name: "drives ls",
    group,
    summary: "List a directory of a drive.",
    arguments: [{ ...place, name: "DRIVE[:PATH]" }],
    options: { ...recursive, ...usual },
    examples: [
      { line: "drives ls handbook", meaning: "The root of a drive" },
      { line: "drives ls -r handbook:/docs", meaning: "A directory with all levels" },
    ],
    load: async () => (await import("./ls.ts")).listItems,
  },
  {
    name: "drives cp",
    group,
    summary: "Copy files between this machine and drives.",
    details:
      "A place with a colon is on a drive: DRIVE:PATH. Write ./a:b for a local file with a colon. As with cp, a target that " +
      "is a directory, or ends with a slash, gets the files under their own names. Files that exist are replaced.",
    arguments: [
      { name: "SOURCE", meaning: "File or directory, here or on a drive.", completes: "files" },
      {
        name: "TARGET",
        meaning: "More sources, then the target as the last argument.",
        completes: "files",
        many: true,
      },
    ],
    options: {
      ...recursive,
      "no-clobber": { type: "flag", short: "n", meaning: "Do not replace files that exist." },
      ...usual,
    },
    examples: [
      { line: "drives cp report.pdf handbook:/docs/", meaning: "Upload a file" },
      { line: "drives cp *.md handbook:/notes/", meaning: "Upload several" },
      { line: "drives cp -r handbook:/docs ./docs", meaning: "Download a directory" },
      { line: "drives cp -r handbook:/docs archive:/2026/", meaning: "Copy from drive to drive" },
    ],
    codes: { 3: "Some files were not copied. They are listed on stderr.", 130: "Interrupted. No half file is left." },
    load: async () => (await import("./cp.ts")).copy,
  },
  {
    name: "drives cat",
    group,
    summary: "Print a file of a drive.",
    arguments: [place],
    options: serverOptions,
    examples: [{ line: "drives cat handbook:/travel.md", meaning: "Print a text" }],
    load: async () => (await import("./ls.ts")).printFile,
  },
  {
    name: "drives rm",
    group,
    summary: "Delete files or directories of a drive.",
    arguments: [{ ...place, many: true }],
    options: { ...recursive, ...yesOption, ...usual },
    examples: [
      { line: "drives rm handbook:/old.md", meaning: "Delete a file" },
      { line: "drives rm -r --yes handbook:/drafts", meaning: "Delete a directory without a question" },
    ],
    codes: { 3: "Some were not deleted. They are listed on stderr." },
    load: async () => (await import("./rm.ts")).remove,
  },
  {
    name: "drives index",
    group,
    summary: "Make the files of a drive searchable, or change its index.",
    details:
      "Without options: create the index, or resume one that is paused and retry failed files. An embedding model is called " +
      "at your expense, with the key of this command.",
    arguments: [drive],
    options: {
      "embedding-model": {
        type: "text",
        value: "MODEL",
        meaning: "Search by meaning too, with this model; none: by words only.",
        completes: "models",
      },
      rebuild: { type: "flag", meaning: "Index all files again." },
      failed: { type: "flag", meaning: "List the files that failed, and why. Change nothing." },
      off: { type: "flag", meaning: "Delete the index. The files stay." },
      ...yesOption,
      ...listOptions,
      ...usual,
    },
    examples: [
      { line: "drives index handbook", meaning: "Search by words" },
      { line: "drives index handbook --embedding-model ann/embedder", meaning: "Search by meaning too" },
      { line: "drives index handbook --failed", meaning: "What could not be indexed" },
    ],
    load: async () => (await import("./index-drive.ts")).indexDrive,
  },
  {
    name: "drives search",
    group,
    summary: "Search the files of an indexed drive.",
    arguments: [drive, { name: "QUERY", meaning: "Words or a question.", many: true }],
    options: {
      limit: { type: "number", value: "COUNT", meaning: "Most results; 8 by default." },
      mode: { type: "text", meaning: "How to search.", choices: ["hybrid", "text", "vector"] },
      ...usual,
    },
    examples: [{ line: "drives search handbook who pays for trains", meaning: "Passages with their places" }],
    load: async () => (await import("./search.ts")).searchDrive,
  },
  {
    name: "drives delete",
    group,
    summary: "Delete a drive with all its files.",
    arguments: [drive],
    options: {
      ...yesOption,
      force: { type: "flag", meaning: "Also if agents use the drive." },
      ...usual,
    },
    examples: [{ line: "drives delete handbook", meaning: "Asks before it deletes" }],
    load: async () => (await import("./drives.ts")).deleteDrive,
  },
];
