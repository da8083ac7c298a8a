import type { Argument, Command, Completes, Option } from "../frame/command.ts";

/** A word that can be typed here, and what it means. */
export interface Candidate {
  value: string;
  meaning: string;
}

/** What the last word can be. */
export type Wanted =
  | { kind: "candidates"; candidates: readonly Candidate[] }
  /** Values that a server or the disk knows. `prefix` precedes each of them in the word. */
  | { kind: "values"; from: Completes; typed: string; prefix: string; words: readonly string[] };

const nothing: Wanted = { kind: "candidates", candidates: [] };

/** `words` are those after `gantry`; the last one is being typed and may be empty. */
export function wantedAt(commands: readonly Command[], words: readonly string[]): Wanted {
  const all = commands.filter(({ hidden }) => !hidden);
  const typed = words.at(-1) ?? "";
  const before = words.slice(0, -1);
  if (before[0] === "help") return names(all, before.slice(1), typed);
  const command = all.find(({ name }) => name.split(" ").every((word, n) => before[n] === word));
  if (command === undefined) return names(all, before, typed);
  return withinCommand(command, before.slice(command.name.split(" ").length), typed);
}

/** The next word of a command's name. */
function names(commands: readonly Command[], before: readonly string[], typed: string): Wanted {
  const next = new Map<string, string>();
  const started = commands.filter(({ name }) => before.every((word, n) => name.split(" ")[n] === word));
  for (const { name, summary } of started) {
    const parts = name.split(" ");
    const word = parts[before.length];
    if (word === undefined) continue;
    const isWhole = parts.length === before.length + 1;
    if (isWhole || !next.has(word)) next.set(word, isWhole ? summary : `Commands about ${word}`);
  }
  if (before.length === 0) next.set("help", "Explain a command.");
  return matching(
    [...next].map(([value, meaning]) => ({ value, meaning })),
    typed,
  );
}

function withinCommand(command: Command, before: readonly string[], typed: string): Wanted {
  const { options = {}, arguments: all = [] } = command;
  const words: string[] = [];
  let open: Option | undefined;
  for (const word of before) {
    if (open !== undefined) open = undefined;
    else if (word.startsWith("-") && word !== "-") {
      const option = optionOf(options, word);
      open = option?.type === "flag" || word.includes("=") ? undefined : option;
    } else words.push(word);
  }
  if (open !== undefined) return valuesOf(open, typed, "", words);
  const [, name, value] = /^(--[^=]+)=(.*)$/s.exec(typed) ?? [];
  if (name !== undefined) {
    const option = optionOf(options, name);
    return option === undefined ? nothing : valuesOf(option, value ?? "", `${name}=`, words);
  }
  if (typed.startsWith("-") && typed !== "-") {
    const given = new Set(before.map((word) => word.replace(/=.*$/s, "")));
    const left = Object.entries(options).filter(([one, { many }]) => many || !given.has(`--${one}`));
    return matching(
      [...left, ["help", { meaning: "Explain the command." }] as const].map(([one, { meaning }]) => ({
        value: `--${one}`,
        meaning,
      })),
      typed,
    );
  }
  const argument = all[words.length] ?? (all.at(-1)?.many ? all.at(-1) : undefined);
  return argument === undefined ? nothing : valuesOf(argument, typed, "", words);
}

function optionOf(options: Readonly<Record<string, Option>>, word: string): Option | undefined {
  const name = word.replace(/=.*$/s, "");
  if (name.startsWith("--")) return Object.hasOwn(options, name.slice(2)) ? options[name.slice(2)] : undefined;
  return Object.values(options).find(({ short }) => short !== undefined && name === `-${short}`);
}

function valuesOf(
  { choices, completes }: Pick<Option | Argument, "choices" | "completes">,
  typed: string,
  prefix: string,
  words: readonly string[],
): Wanted {
  if (choices)
    return matching(
      choices.map((value) => ({ value, meaning: "" })),
      typed,
      prefix,
    );
  return completes === undefined ? nothing : { kind: "values", from: completes, typed, prefix, words };
}

export function matching(candidates: readonly Candidate[], typed: string, prefix = ""): Wanted {
  return {
    kind: "candidates",
    candidates: candidates
      .filter(({ value }) => value.startsWith(typed))
      .map(({ value, meaning }) => ({ value: `${prefix}${value}`, meaning })),
  };
}

/** Splits a line as a shell does: quotes and backslashes, but no expansion. The last word may be unfinished. */
export function wordsOf(line: string): string[] {
  const words = [""];
  let quote = "";
  let isEscaped = false;
  for (const character of line) {
    const last = words.length - 1;
    if (isEscaped) {
      words[last] += character;
      isEscaped = false;
    } else if (character === "\\" && quote !== "'") isEscaped = true;
    else if (quote !== "") {
      if (character === quote) quote = "";
      else words[last] += character;
    } else if (character === "'" || character === '"') quote = character;
    else if (!/\s/.test(character)) words[last] += character;
    else if (words[last] !== "") words.push("");
  }
  return words;
}
