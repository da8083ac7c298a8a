import { type Action, isList, singleReaderOf } from "./action-table.ts";
import { isObject } from "./mask.rules.ts";

/** Of a text in a list, in the answer to a write, and in a confirmation: code, scripts, page and email templates. */
export const longestText = 1000;
/** Of a text in a single record that a model reads. A person who asks for one record gets it whole. */
const longestForModel = 20_000;

export function cutForCaller(action: Action, result: unknown): unknown {
  return action.kind === "read" && !isList(action) ? result : cutTexts(result, longestText, howToReadWhole(action));
}

export function cutForModel(action: Action, result: unknown): unknown {
  if (action.kind === "read" && !isList(action)) return cutTexts(result, longestForModel, "");
  return cutForCaller(action, result);
}

function howToReadWhole(action: Action): string {
  const reader =
    singleReaderOf(action) ?? singleReaderOf({ ...action, path: action.path.replace(/\/\{[^}]+\}.*$/, "") });
  return reader ? `; ${reader.name} reads it whole` : "";
}

export function cutTexts(value: unknown, longest: number, hint: string): unknown {
  if (typeof value === "string") return value.length > longest ? cut(value, longest, hint) : value;
  if (Array.isArray(value)) return value.map((element) => cutTexts(element, longest, hint));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, cutTexts(inner, longest, hint)]));
}

function cut(text: string, longest: number, hint: string): string {
  // Half of a surrogate pair at the end would be no character.
  const kept = text
    .slice(0, longest)
    .toWellFormed()
    .replace(/\ufffd$/, "");
  return `${kept}… [cut: ${text.length} characters in all${hint}]`;
}
