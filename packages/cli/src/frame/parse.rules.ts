import { parseArgs } from "node:util";
import type { Command, Option, Typed } from "./command.ts";
import { closest } from "./distance.rules.ts";
import { wrongArguments } from "./failure.ts";
import { usageOf } from "./usage.rules.ts";

/** Checks what was typed against the row. Throws a `Failure` that says what is wrong. */
export function parse(command: Command, args: readonly string[]): Typed {
  const options: Readonly<Record<string, Option>> = command.options ?? {};
  const { tokens } = parseArgs({
    args: [...args],
    strict: false,
    tokens: true,
    allowPositionals: true,
    options: Object.fromEntries(
      Object.entries(options).map(([name, { type, short }]) => [
        name,
        { type: type === "flag" ? ("boolean" as const) : ("string" as const), ...(short !== undefined && { short }) },
      ]),
    ),
  });
  const values = new Map<string, string[]>();
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind !== "option") continue;
    const { name, rawName } = token;
    const option = Object.hasOwn(options, name) ? options[name] : undefined;
    if (option === undefined) throw unknownOption(rawName, name, command);
    // The next option is not a value, unless it is given as --name=--value.
    const value = !token.inlineValue && /^-./.test(token.value ?? "") ? undefined : token.value;
    checkValue(`--${name}`, option, value);
    if (values.has(name) && !option.many && option.type !== "flag") throw wrongArguments(`Give --${name} only once.`);
    values.set(name, [...(values.get(name) ?? []), value ?? ""]);
  }
  checkWords(command, words);

  const given = (name: string): readonly string[] => {
    if (options[name] === undefined) throw new Error(`The row of ${command.name} has no option ${name}`);
    return values.get(name) ?? [];
  };
  return {
    words,
    flag: (name) => given(name).length > 0,
    text: (name) => given(name)[0],
    texts: given,
    number: (name) => (given(name)[0] === undefined ? undefined : Number(given(name)[0])),
  };
}

function unknownOption(rawName: string, name: string, command: Command) {
  const meant = closest(name, Object.keys(command.options ?? {}));
  const advice = meant === undefined ? `See gantry help ${command.name}.` : `Did you mean --${meant}?`;
  return wrongArguments(`Unknown option ${rawName}. ${advice}`);
}

function checkValue(
  shown: string,
  { type, choices, value: example = "VALUE" }: Option,
  value: string | undefined,
): void {
  if (type === "flag") {
    if (value !== undefined) throw wrongArguments(`${shown} takes no value.`);
    return;
  }
  if (value === undefined) throw wrongArguments(`${shown} needs a value: ${shown} ${example}`);
  if (type === "number" && !/^\d{1,15}$/.test(value))
    throw wrongArguments(`${shown} must be a whole number, not ${value}.`);
  checkChoice(shown, choices, value);
}

function checkChoice(shown: string, choices: readonly string[] | undefined, value: string): void {
  if (choices === undefined || choices.includes(value)) return;
  throw wrongArguments(`Unknown value ${value} of ${shown}. Use one of: ${choices.join(", ")}`);
}

function checkWords(command: Command, words: readonly string[]): void {
  const all = command.arguments ?? [];
  const isOpen = all.at(-1)?.many ?? false;
  const required = all.filter(({ optional }) => !optional).length;
  const surplus = isOpen ? undefined : words[all.length];
  if (surplus !== undefined) throw wrongArguments(`Unexpected argument ${surplus}. Usage: ${usageOf(command)}`);
  if (words.length < required) throw wrongArguments(`Usage: ${usageOf(command)}`);
  for (const [n, word] of words.entries()) {
    const argument = all[Math.min(n, all.length - 1)];
    if (argument) checkChoice(argument.name, argument.choices, word);
  }
}
