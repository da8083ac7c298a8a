import { type Command, groups } from "./command.ts";
import { shownOption, usageOf } from "./usage.rules.ts";

const textWidth = 100;

/** The help of one command. */
export function helpOf(command: Command): string {
  const { summary, details, arguments: all = [], options = {}, examples, codes } = command;
  const sections = [
    [usageOf(command), "", ...wrapped(details === undefined ? summary : `${summary} ${details}`, 0)],
    section("Arguments", pairs(all.map(({ name, meaning }) => [name, meaning]))),
    section(
      "Options",
      pairs(
        Object.entries(options).map(([name, option]) => [
          shownOption(name, option),
          option.choices && option.value !== undefined
            ? `${option.meaning} One of: ${option.choices.join(", ")}.`
            : option.meaning,
        ]),
      ),
    ),
    section(
      "Examples",
      examples.flatMap(({ line, meaning }) => [`  # ${meaning}`, `  gantry ${line}`]),
    ),
    section("Exit codes", pairs(Object.entries({ ...usualCodes, ...codes }))),
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

export const usualCodes: Readonly<Record<number, string>> = {
  0: "Done.",
  1: "Failed, or refused by the server.",
  2: "The arguments are wrong.",
};

/** All commands in groups. */
export const helpOfAll = (commands: readonly Command[]): string => listOf(commands, ({ name }) => `gantry ${name}`);

/** Commands that begin with the same word, with their arguments. */
export const helpOfFamily = (commands: readonly Command[]): string =>
  listOf(commands, (command) => usageOf({ ...command, options: {} }));

function listOf(commands: readonly Command[], shownAs: (command: Command) => string): string {
  const shown = commands.filter(({ hidden }) => !hidden);
  const lists = Object.entries(groups).map(([group, title]) =>
    section(title, pairs(shown.filter((one) => one.group === group).map((one) => [shownAs(one), one.summary]))),
  );
  const all = lists.filter((lines) => lines.length > 0).map((lines) => lines.join("\n"));
  return [...all, "gantry help COMMAND shows arguments, options and examples."].join("\n\n");
}

const section = (title: string, lines: readonly string[]): string[] => (lines.length === 0 ? [] : [title, ...lines]);

function pairs(rows: readonly (readonly [name: string, meaning: string])[]): string[] {
  const width = Math.min(28, Math.max(0, ...rows.map(([name]) => name.length)));
  return rows.flatMap(([name, meaning]) => {
    const [first = "", ...more] = wrapped(meaning, width + 4);
    const head =
      name.length > width ? [`  ${name}`, `${" ".repeat(width + 4)}${first}`] : [`  ${name.padEnd(width)}  ${first}`];
    return [...head, ...more.map((line) => `${" ".repeat(width + 4)}${line}`)];
  });
}

function wrapped(text: string, indent: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + word.length + 1 > textWidth - indent) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
