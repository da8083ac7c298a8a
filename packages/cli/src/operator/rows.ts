import { type Command, jsonOption, listOptions, resultOption, serverOptions } from "../frame/command.ts";

export const operatorCommands: readonly Command[] = [
  {
    name: "serve",
    group: "operate",
    summary: "Run the server.",
    details:
      "Settings come from the environment, such as PORT and GANTRY_HOME. Data is in ~/.gantry; in a checkout, in its .gantry.",
    examples: [
      { line: "serve", meaning: "Run a server at http://127.0.0.1:8080" },
      { line: "serve >gantry.log", meaning: "Write the log to a file, which gets the key of the first start too" },
    ],
    load: async () => (await import("./serve.ts")).serve,
  },
  {
    name: "backup",
    group: "operate",
    summary: "Write everything to one tar archive, with or without a running server.",
    details: "Settings are those of serve.",
    arguments: [{ name: "FILE|FOLDER", meaning: "Where to write the archive.", completes: "files" }],
    options: {
      "no-files": { type: "flag", meaning: "Leave out the content of files." },
      "no-keys": { type: "flag", meaning: "Leave out the keys of the home, which decrypt stored credentials." },
      ...resultOption,
    },
    examples: [
      { line: "backup /backups/", meaning: "Write an archive with the date in its name" },
      { line: "backup gantry.tar --no-keys", meaning: "Write an archive that decrypts no credentials" },
    ],
    codes: { 0: "Complete.", 1: "No backup was written.", 3: "Written, but some files are missing in the file store." },
    load: async () => (await import("./backup.ts")).backup,
  },
  {
    name: "restore",
    group: "operate",
    summary: "Fill an empty installation from a backup, on any engines.",
    arguments: [{ name: "FILE", meaning: "A backup.", completes: "files" }],
    options: {
      replace: { type: "flag", meaning: "Replace an installation that is not empty." },
      ...resultOption,
    },
    examples: [{ line: "restore gantry.tar", meaning: "Restore into the home and the database of the settings" }],
    codes: { 0: "Restored.", 1: "Not restored, or restored with a ledger that is not correct." },
    load: async () => (await import("./restore.ts")).restore,
  },
  {
    name: "ledger verify",
    group: "operate",
    summary: "Check that the ledger adds up.",
    details: "Asks a server if you name one (an admin's key), and otherwise reads the database of the settings.",
    options: { ...serverOptions, ...jsonOption },
    examples: [
      { line: "ledger verify", meaning: "Check the database of the settings" },
      { line: "ledger verify --url https://gantry.example.com", meaning: "Ask a server" },
    ],
    codes: { 0: "Correct.", 1: "Not correct.", 2: "Not checked, or the arguments are wrong." },
    load: async () => (await import("./ledger.ts")).verifyLedger,
  },
  {
    name: "audit list",
    group: "operate",
    summary: "List who changed what, newest first.",
    details: "The whole log is for admins. With --own, you see what concerns your account.",
    options: {
      own: { type: "flag", meaning: "What you changed, and what admins changed on what is yours." },
      action: { type: "text", value: "ACTION", meaning: "Only this action, or those that begin with it, such as key." },
      actor: { type: "text", value: "USER", meaning: "Only actions of this user." },
      owner: { type: "text", value: "USER", meaning: "Only objects of this user." },
      object: { type: "text", value: "OBJECT", meaning: "Only this object, by id or name." },
      id: { type: "text", value: "ID", meaning: "Only records with this id, such as that of a key or a request." },
      from: { type: "text", value: "TIME", meaning: "Since then: 7d, or a date and time." },
      to: { type: "text", value: "TIME", meaning: "Until then: 1h, or a date and time." },
      ...listOptions,
      ...serverOptions,
      ...jsonOption,
    },
    examples: [
      { line: "audit list --from 1d", meaning: "What happened in the last day" },
      { line: "audit list --action key --owner alice --all", meaning: "All that happened to the keys of a user" },
      { line: "audit list --own", meaning: "What happened to your account" },
    ],
    load: async () => (await import("./audit.ts")).listAudit,
  },
  {
    name: "audit verify",
    group: "operate",
    summary: "Check that no audit record was changed or removed.",
    details:
      "Reads the database of the settings, beside a running server. Store the printed head elsewhere and pass it next time: then records that were cut off at the end are found too.",
    options: {
      head: { type: "text", value: "HASH", meaning: "A head that an earlier check printed." },
      json: { type: "flag", meaning: "Print the result as JSON." },
    },
    examples: [
      { line: "audit verify", meaning: "Check the database of the settings" },
      { line: "audit verify --json", meaning: "The same for a script, with the head" },
    ],
    codes: { 0: "Intact.", 1: "Not intact.", 2: "Not checked, or the arguments are wrong." },
    load: async () => (await import("./audit.ts")).verifyAudit,
  },
  {
    name: "rekey",
    group: "operate",
    summary: "Re-encrypt stored credentials with another key. Stop all servers first.",
    details: "The new key is GANTRY_NEW_SECRET_KEY, or a generated one.",
    options: {
      "leave-unreadable": { type: "flag", meaning: "Skip credentials that cannot be decrypted." },
      ...resultOption,
    },
    examples: [{ line: "rekey", meaning: "Generate a new key and re-encrypt everything" }],
    codes: { 0: "Done.", 1: "Failed, or done with steps left for you." },
    load: async () => (await import("./rekey.ts")).rekey,
  },
];
