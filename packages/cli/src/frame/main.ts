import { readOwnVersion } from "../own-version.ts";
import type { Command, Context } from "./command.ts";
import { createContext } from "./context.ts";
import { closest } from "./distance.rules.ts";
import { describeFailure, exitCodes, Failure } from "./failure.ts";
import { visible } from "./format.rules.ts";
import { parse } from "./parse.rules.ts";

const helpOptions = ["--help", "-h"];

/** Runs what was typed and returns the exit code. */
export async function main(commands: readonly Command[], given: readonly string[]): Promise<number> {
  // Arguments after `--` are values. `gantry help backup` shows help; `gantry backup help` writes a file named help.
  const beforeDashes = given.includes("--") ? given.slice(0, given.indexOf("--")) : given;
  const asksForHelp =
    given.length === 0 || given[0] === "help" || beforeDashes.some((one) => helpOptions.includes(one));
  const words = given[0] === "help" || helpOptions.includes(given[0] ?? "") ? given.slice(1) : given;
  if (words[0] === "--version" || words[0] === "version") return printVersion();
  const command = commands.find(({ name }) => name.split(" ").every((word, n) => words[n] === word));
  if (asksForHelp) return showHelp(commands, command, words);
  if (command === undefined) return reportUnknown(commands, words);
  return run(command, words.slice(command.name.split(" ").length));
}

function printVersion(): number {
  console.log(readOwnVersion());
  return exitCodes.done;
}

async function run(command: Command, args: readonly string[]): Promise<number> {
  let context: Context | undefined;
  try {
    const typed = parse(command, args);
    context = createContext(typed, (option) => command.options?.[option] !== undefined);
    return await (await command.load())(context);
  } catch (error) {
    context?.out.progress(undefined);
    if ((error as { name?: unknown } | null)?.name === "AbortError" && context?.signal.aborted) {
      return exitCodes.interrupted;
    }
    // The text may come from the server, or from an upstream of it.
    console.error(visible(describeFailure(error)));
    return error instanceof Failure ? error.code : exitCodes.failed;
  }
}

/** The first word of two leads to the commands that begin with it. */
const familyOf = (commands: readonly Command[], word: string | undefined): Command[] =>
  commands.filter(({ name }) => name.startsWith(`${word} `));

async function showHelp(
  commands: readonly Command[],
  command: Command | undefined,
  words: readonly string[],
): Promise<number> {
  const { helpOf, helpOfAll, helpOfFamily } = await import("./help.ts");
  const family = familyOf(commands, words[0]);
  const isNamed = words[0] !== undefined && !words[0].startsWith("-");
  if (command === undefined && isNamed && family.length === 0) return reportUnknown(commands, words);
  console.log(command ? helpOf(command) : family.length > 0 ? helpOfFamily(family) : helpOfAll(commands));
  return exitCodes.done;
}

async function reportUnknown(commands: readonly Command[], words: readonly string[]): Promise<number> {
  const family = familyOf(commands, words[0]);
  const typed = words.slice(0, family.length > 0 ? 2 : 1).join(" ");
  if (family.length > 0 && words.length === 1) {
    const { helpOfFamily } = await import("./help.ts");
    console.error(helpOfFamily(family));
    return exitCodes.wrongArguments;
  }
  const known = commands.filter(({ hidden }) => !hidden).map(({ name }) => name);
  const meant = closest(typed, [...known, ...new Set(known.map((name) => name.split(" ")[0] ?? ""))]);
  const advice = meant === undefined ? "gantry help lists all commands." : `Did you mean gantry ${meant}?`;
  console.error(`Unknown command: ${typed}. ${advice}`);
  return exitCodes.wrongArguments;
}
