import { type Action, isList, singleReaderOf } from "./action-table.ts";
import { isObject } from "./mask.rules.ts";

/** How long texts may be: those of a record itself, and those deeper in it. */
interface Bounds {
  own: number;
  nested: number;
}

/** Of a text in a list, in the answer to a write, and in a confirmation: code, scripts, page and email templates. */
const short: Bounds = { own: 1000, nested: 1000 };
const whole: Bounds = { own: Number.POSITIVE_INFINITY, nested: Number.POSITIVE_INFINITY };

/** Of a record that a model reads, as JSON: with warnings and notes beside it, it stays below the 64 kB of a result. */
const mostRecordBytes = 64_000;
/**
 * The first of them under which the record fits is taken. Deeper texts go first: they are often a copy, such as the code
 * of an action once more in its deployed version.
 */
const boundsForModel: readonly Bounds[] = [
  whole,
  { own: whole.own, nested: 20_000 },
  { own: whole.own, nested: short.nested },
  { own: 20_000, nested: short.nested },
];

const notReadable = "; too long to be read whole here, so it must not be written back";

/** A person who asks for one record gets it whole. */
export function cutForCaller(action: Action, result: unknown): unknown {
  if (isSingleRead(action)) return result;
  const hint = howToReadWhole(action);
  return cutTexts(result, short, () => hint);
}

/** A model may write back what it takes for the whole of a text, so every mark says whether and how it gets that. */
export function cutForModel(action: Action, result: unknown): unknown {
  if (isSingleRead(action)) return cutTexts(result, boundsOf(result), () => notReadable);
  const hint = howToReadWhole(action);
  const cutRecord = (record: unknown) => {
    const readable = boundsOf(record);
    return cutTexts(record, short, (length, kind) => (length <= readable[kind] ? hint : notReadable));
  };
  return isList(action) ? eachRecord(result, cutRecord) : cutRecord(result);
}

/** For the person who is asked before a write. */
export function cutForQuestion(value: unknown): unknown {
  return cutTexts(value, short, () => "");
}

/** A text that was cut here: written back, it would put a part in the place of the whole. */
export function isCut(text: string): boolean {
  return /… \[cut: \d+ characters in all[^\]]*\]/.test(text);
}

function isSingleRead(action: Action): boolean {
  return action.kind === "read" && !isList(action);
}

function howToReadWhole(action: Action): string {
  const reader =
    singleReaderOf(action) ?? singleReaderOf({ ...action, path: action.path.replace(/\/\{[^}]+\}.*$/, "") });
  return reader ? `; ${reader.name} reads it whole` : "";
}

/** How much of a record a model gets when it reads that alone. */
function boundsOf(record: unknown): Bounds {
  const fits = (bounds: Bounds) =>
    Buffer.byteLength(JSON.stringify(cutTexts(record, bounds, () => notReadable)) ?? "") <= mostRecordBytes;
  return boundsForModel.find(fits) ?? short;
}

/** Bare in an array, or in the array of an envelope such as `{start, limit, total, users}`. */
function eachRecord(answer: unknown, change: (record: unknown) => unknown): unknown {
  if (Array.isArray(answer)) return answer.map(change);
  if (!isObject(answer)) return change(answer);
  return Object.fromEntries(
    Object.entries(answer).map(([name, value]) => [name, Array.isArray(value) ? value.map(change) : change(value)]),
  );
}

type Hint = (length: number, kind: keyof Bounds) => string;

function cutTexts(value: unknown, bounds: Bounds, hint: Hint, depth = 0): unknown {
  if (typeof value === "string") {
    const kind = depth > 1 ? "nested" : "own";
    return value.length > bounds[kind] ? cut(value, bounds[kind], hint(value.length, kind)) : value;
  }
  if (Array.isArray(value)) return value.map((element) => cutTexts(element, bounds, hint, depth + 1));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, cutTexts(inner, bounds, hint, depth + 1)]),
  );
}

function cut(text: string, longest: number, hint: string): string {
  // Half of a surrogate pair at the end would be no character.
  const kept = text
    .slice(0, longest)
    .toWellFormed()
    .replace(/\ufffd$/, "");
  return `${kept}… [cut: ${text.length} characters in all${hint}]`;
}
