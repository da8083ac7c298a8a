import type { GantryClient } from "@gantry/sdk";
import type { Output } from "./output.ts";

/** Where the values of an option or an argument are completed from. `completion/values.ts` has one row for each. */
export type Completes =
  | "agents"
  | "batches"
  | "commands"
  | "drives"
  | "fields"
  | "files"
  | "keys"
  | "models"
  | "plain"
  | "predictions"
  | "profiles"
  | "providers"
  | "runs"
  | "schedules"
  | "threads"
  | "triggers";

export interface Option {
  /** A flag, a text, or a whole number from 0. */
  type: "flag" | "text" | "number";
  /** Shown in help for the value, such as FILE. */
  value?: string;
  meaning: string;
  short?: string;
  choices?: readonly string[];
  completes?: Completes;
  /** May be given several times. */
  many?: boolean;
}

export interface Argument {
  /** Shown in help, such as MODEL. */
  name: string;
  meaning: string;
  optional?: boolean;
  /** Only for the last argument. */
  many?: boolean;
  choices?: readonly string[];
  completes?: Completes;
}

export interface Example {
  /** Without the leading `gantry`. */
  line: string;
  meaning: string;
}

export const groups = {
  start: "Get started",
  models: "Models and predictions",
  agents: "Agents",
  account: "Your account",
  operate: "Run a server",
  help: "Help",
} as const;

/** A command is plain data: help and completion load no command, and a command loads only its own code. */
export interface Command {
  /** One word, or two. */
  name: string;
  group: keyof typeof groups;
  /** One sentence, for lists. */
  summary: string;
  /** Further sentences, for the help of the command. */
  details?: string;
  arguments?: readonly Argument[];
  options?: Readonly<Record<string, Option>>;
  examples: readonly Example[];
  /** Exit codes, if there are others than 0 for success, 1 for failure and 2 for wrong arguments. */
  codes?: Readonly<Record<number, string>>;
  /** Not shown in help. */
  hidden?: boolean;
  load(): Promise<Run>;
}

/** Returns the exit code. Throw a `Failure` for one line of text and an exit code. */
export type Run = (context: Context) => Promise<number>;

/** What was typed after the name of the command. Throws if the row has no such option. */
export interface Typed {
  /** The arguments, checked against the row. */
  words: readonly string[];
  flag(option: string): boolean;
  text(option: string): string | undefined;
  texts(option: string): readonly string[];
  number(option: string): number | undefined;
}

export interface Target {
  url: string;
  key: string | undefined;
  /** For which the owner of the key acts. */
  team?: string | undefined;
}

export interface Context extends Typed {
  out: Output;
  /** Aborted by Ctrl+C and SIGTERM. Without a use of it, both end the process as usual. */
  readonly signal: AbortSignal;
  /** The server to call: options, environment, the stored login, then the address of `serve`. */
  target(): Promise<Target>;
  client(): Promise<GantryClient>;
}

/** Options of every command that calls a server. */
export const serverOptions = {
  url: { type: "text", value: "URL", meaning: "Address of the server (GANTRY_URL)." },
  key: { type: "text", value: "KEY", meaning: "API key (GANTRY_KEY). Other users of this machine can see arguments." },
  profile: {
    type: "text",
    value: "NAME",
    meaning: "Stored login to use (GANTRY_PROFILE).",
    completes: "profiles",
  },
  team: { type: "text", value: "TEAM", meaning: "Act for this team (GANTRY_TEAM)." },
} as const satisfies Record<string, Option>;

export const jsonOption = {
  json: { type: "flag", meaning: "Print the answer of the API as JSON." },
} as const satisfies Record<string, Option>;

/** For commands whose result is not an answer of the API. */
export const resultOption = {
  json: { type: "flag", meaning: "Print the result as JSON." },
} as const satisfies Record<string, Option>;

/** Options of commands that print a list. */
export const listOptions = {
  limit: { type: "number", value: "COUNT", meaning: "Show at most this many entries; 20 by default." },
  all: { type: "flag", meaning: "Show all entries." },
} as const satisfies Record<string, Option>;
