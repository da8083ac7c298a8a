import type { Context } from "../frame/command.ts";
import { wrongArguments } from "../frame/failure.ts";
import { readJsonObject, readText } from "../shared/read-json.ts";
import { fieldOf, inputOf } from "./input.rules.ts";

/** The input from --input and from the fields that were typed, which replace those of the file. */
export async function readInput(
  context: Context,
  words: readonly string[],
  schema: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const file = context.text("input");
  const typed = words.map(fieldOf);
  const readers = typed.filter(({ kind }) => kind === "stdin").length + (file === "-" ? 1 : 0);
  if (readers > 1) throw wrongArguments("Only one value can be read from stdin.");
  const base = file === undefined ? {} : await readJsonObject<Record<string, unknown>>(file);
  const fields: { key: string; value: string; isJson: boolean }[] = [];
  for (const { key, kind, value } of typed) {
    const text = kind === "stdin" || kind === "file" ? await readText(value) : value;
    fields.push({ key, value: text, isJson: kind === "json" });
  }
  return { ...base, ...inputOf(fields, schema) };
}
