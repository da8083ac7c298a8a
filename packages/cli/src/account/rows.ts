import { type Command, jsonOption, listOptions, type Option, resultOption, serverOptions } from "../frame/command.ts";
import { limitOptions } from "../shared/options.ts";

const asked = {
  yes: { type: "flag", short: "y", meaning: "Do not ask." },
} as const satisfies Record<string, Option>;

const keyArgument = { name: "ID", meaning: "The id of the key, from keys list.", completes: "keys" } as const;

export const accountCommands: readonly Command[] = [
  {
    name: "login",
    group: "start",
    summary: "Store the address of a server and an API key for later commands.",
    details:
      "Asks in a terminal; the key is not shown. The key is checked before it is stored, in a file that only you can read.",
    options: {
      url: serverOptions.url,
      "key-stdin": { type: "flag", meaning: "Read the key from stdin." },
      profile: { ...serverOptions.profile, meaning: "Name of the login, if you use several; default by default." },
      ...resultOption,
    },
    examples: [
      { line: "login", meaning: "Answer questions" },
      { line: "login --url https://gantry.example.com --key-stdin < key.txt", meaning: "In a script" },
      { line: "login --profile work", meaning: "Store a second login and use it from now on" },
    ],
    load: async () => (await import("./login.ts")).login,
  },
  {
    name: "logout",
    group: "start",
    summary: "Delete a stored login.",
    details: "The key stays valid until you revoke it.",
    options: {
      profile: serverOptions.profile,
      all: { type: "flag", meaning: "Delete all stored logins." },
      ...resultOption,
    },
    examples: [{ line: "logout", meaning: "Delete the current login" }],
    load: async () => (await import("./login.ts")).logout,
  },
  {
    name: "whoami",
    group: "start",
    summary: "Show the server and the user that commands use.",
    options: { ...serverOptions, ...jsonOption },
    examples: [{ line: "whoami", meaning: "Check the current login" }],
    load: async () => (await import("./login.ts")).whoami,
  },
  {
    name: "status",
    group: "start",
    summary: "Show whether a server is up and ready, and the owner of the key.",
    details: "Admins also see the version of PostgreSQL, the number of nodes and the work in progress.",
    options: { ...serverOptions, ...jsonOption },
    examples: [
      { line: "status", meaning: "Ask the server you have logged in to, or the one on this machine" },
      { line: "status --url https://gantry.example.com", meaning: "Ask another server" },
    ],
    codes: {
      0: "Ready.",
      1: "Up, but not ready or the key is wrong.",
      2: "Not reachable, or the arguments are wrong.",
    },
    load: async () => (await import("./status.ts")).status,
  },
  {
    name: "sign-in",
    group: "start",
    summary: "Print a link that signs you in to the console once.",
    arguments: [{ name: "USERNAME", meaning: "Another user, for admins.", optional: true }],
    options: { ...serverOptions, ...jsonOption },
    examples: [
      { line: "sign-in", meaning: "Sign in to the console" },
      { line: "sign-in ann", meaning: "Create a link for another user" },
    ],
    load: async () => (await import("./sign-in.ts")).signIn,
  },
  {
    name: "account export",
    group: "account",
    summary: "Save all data of your account as one .tar.gz.",
    details:
      "With --team for the team, as its admin or owner. The archive has no keys and no stored secrets. The file is saved only if it is complete.",
    options: {
      out: {
        type: "text",
        value: "FILE",
        short: "o",
        meaning: "File or folder to write; gantry-USERNAME-DATE.tar.gz in this folder by default.",
        completes: "files",
      },
      "no-files": { type: "flag", meaning: "Leave out the contents of files and drives." },
      user: { type: "text", value: "USERNAME", meaning: "Another user or a team, for admins." },
      force: { type: "flag", meaning: "Replace an existing file." },
      ...serverOptions,
      ...jsonOption,
    },
    examples: [
      { line: "account export", meaning: "Save everything in the current folder" },
      { line: "account export --no-files --out lists.tar.gz", meaning: "Save only the lists" },
      { line: "account export --user ann --out ann.tar.gz", meaning: "Answer the request of a user, as an admin" },
    ],
    codes: { 1: "Refused, or the connection was cut. Nothing was saved.", 130: "Interrupted. Nothing was saved." },
    load: async () => (await import("./export.ts")).exportAccount,
  },
  {
    name: "sessions list",
    group: "account",
    summary: "List your sign-ins to the console.",
    options: { ...listOptions, ...serverOptions, ...jsonOption },
    examples: [{ line: "sessions list", meaning: "See where you are signed in" }],
    load: async () => (await import("./sessions.ts")).listSessions,
  },
  {
    name: "sessions revoke",
    group: "account",
    summary: "End a session, or all of them.",
    arguments: [{ name: "ID", meaning: "The id of the session, from sessions list. Without it: all.", optional: true }],
    options: { ...asked, ...serverOptions, ...jsonOption },
    examples: [
      { line: "sessions revoke 4f7k2m9q1z3x", meaning: "End one session after a question" },
      { line: "sessions revoke --yes", meaning: "Sign out everywhere" },
    ],
    load: async () => (await import("./sessions.ts")).revokeSessions,
  },
  {
    name: "users reset-password",
    group: "account",
    summary: "Print a link with which a user sets a new password, for admins.",
    details: "The link works once, within 24 hours, and ends all sessions of the user.",
    arguments: [{ name: "USERNAME", meaning: "The user." }],
    options: { ...serverOptions, ...jsonOption },
    examples: [{ line: "users reset-password ann", meaning: "Create a link to send to ann" }],
    load: async () => (await import("./sessions.ts")).resetPassword,
  },
  {
    name: "keys list",
    group: "account",
    summary: "List your API keys.",
    options: { ...listOptions, ...serverOptions, ...jsonOption },
    examples: [{ line: "keys list", meaning: "See which keys exist and when they were used" }],
    load: async () => (await import("./keys.ts")).listKeys,
  },
  {
    name: "keys create",
    group: "account",
    summary: "Create an API key and print it, once.",
    arguments: [{ name: "NAME", meaning: "What the key is for.", optional: true }],
    options: {
      expires: { type: "text", value: "TIME", meaning: "When the key ends: a date, or a span such as 90d." },
      ...limitOptions("key"),
      model: {
        type: "text",
        value: "MODEL",
        meaning: "A model that the key may call, or an agent as agents/creator/slug. Repeat the option for several.",
        many: true,
        completes: "models",
      },
      "forget-inputs": { type: "flag", meaning: "Do not keep inputs of predictions made with the key." },
      ...serverOptions,
      ...jsonOption,
    },
    examples: [
      { line: "keys create ci --expires 90d --monthly-limit 20", meaning: "Create a key that ends and has a budget" },
      { line: "keys create widget --model gantry/text > key.txt", meaning: "Save a key for one model in a file" },
    ],
    load: async () => (await import("./keys.ts")).createKey,
  },
  {
    name: "keys change",
    group: "account",
    summary: "Change the name, end or limits of a key.",
    arguments: [keyArgument],
    options: {
      name: { type: "text", value: "NAME", meaning: "What the key is for." },
      expires: {
        type: "text",
        value: "TIME",
        meaning: "When the key ends: a date, or a span such as 90d; none: never.",
      },
      ...limitOptions("key"),
      ...serverOptions,
      ...jsonOption,
    },
    examples: [
      { line: "keys change key_1a2b3c --daily-limit 5", meaning: "Give a key a budget for each day" },
      { line: "keys change key_1a2b3c --tokens-per-minute none", meaning: "Remove a limit" },
    ],
    load: async () => (await import("./keys.ts")).changeKey,
  },
  {
    name: "keys revoke",
    group: "account",
    summary: "End a key at once.",
    arguments: [keyArgument],
    options: { ...asked, ...serverOptions, ...jsonOption },
    examples: [{ line: "keys revoke key_1a2b3c", meaning: "End a key after a question" }],
    load: async () => (await import("./keys.ts")).revokeKey,
  },
  {
    name: "keys rotate",
    group: "account",
    summary: "Replace the secret of a key and print the new one, once.",
    arguments: [keyArgument],
    options: {
      grace: { type: "number", value: "SECONDS", meaning: "How long the old secret still works; 0 by default." },
      ...serverOptions,
      ...jsonOption,
    },
    examples: [{ line: "keys rotate key_1a2b3c --grace 3600", meaning: "Leave an hour to deploy the new key" }],
    load: async () => (await import("./keys.ts")).rotateKey,
  },
  {
    name: "usage",
    group: "account",
    summary: "Show requests, tokens and spend, and your balance.",
    options: {
      by: {
        type: "text",
        value: "GROUP",
        choices: ["model", "key", "mode", "status", "day"],
        meaning: "Group of each row; model by default.",
      },
      from: { type: "text", value: "TIME", meaning: "A date, or a span before now such as 7d; 30d by default." },
      to: { type: "text", value: "TIME", meaning: "End of the time; now by default." },
      model: { type: "text", value: "MODEL", meaning: "Only this model.", completes: "models" },
      ...serverOptions,
      ...jsonOption,
    },
    examples: [
      { line: "usage", meaning: "Show the last 30 days by model" },
      { line: "usage --by day --from 7d", meaning: "Show the last week by day" },
      { line: "usage --by key --from 2026-11-01", meaning: "Show which key has spent what since a day" },
    ],
    load: async () => (await import("./usage.ts")).usage,
  },
];
