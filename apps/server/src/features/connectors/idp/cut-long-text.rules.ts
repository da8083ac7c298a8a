import { isRecord } from "../../../kernel/is-record.ts";
import { type Action, isList, singleReaderOf } from "./action-table.ts";

/** Longest texts, directly in a record and deeper in it. */
interface Bounds {
  own: number;
  nested: number;
}

/** For lists, answers to writes, and confirmations. */
const short: Bounds = { own: 1000, nested: 1000 };
const whole: Bounds = { own: Number.POSITIVE_INFINITY, nested: Number.POSITIVE_INFINITY };

/** Of a record as JSON, so that it fits into a tool result of 64 kB with its warnings. */
const mostRecordBytes = 64_000;
/** The first that fits applies. Nested texts are cut first: often they are copies, such as the deployed code of an action. */
const boundsForModel: readonly Bounds[] = [
  whole,
  { own: whole.own, nested: 20_000 },
  { own: whole.own, nested: short.nested },
  { own: 20_000, nested: short.nested },
];

const notReadable = "; too long to be read whole here, so it must not be written back";

/** A single record is returned whole. */
export function cutForCaller(action: Action, result: unknown): unknown {
  if (isSingleRead(action)) return result;
  const hint = howToReadWhole(action);
  return cutTexts(result, short, () => hint);
}

/** A model may write a text back, so every mark says whether and how to read the whole text. */
export function cutForModel(action: Action, result: unknown): unknown {
  if (isSingleRead(action)) return cutTexts(result, boundsOf(result), () => notReadable);
  const hint = howToReadWhole(action);
  const cutRecord = (record: unknown) => {
    const readable = boundsOf(record);
    return cutTexts(record, short, (length, kind) => (length <= readable[kind] ? hint : notReadable));
  };
  return isList(action) ? eachRecord(result, cutRecord) : cutRecord(result);
}

export function cutForConfirmation(value: unknown): unknown {
  return cutTexts(value, short, () => "");
}

/** Such a text must not be written back. */
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

/** What a model gets when it reads the record alone. */
function boundsOf(record: unknown): Bounds {
  const fits = (bounds: Bounds) =>
    Buffer.byteLength(JSON.stringify(cutTexts(record, bounds, () => notReadable)) ?? "") <= mostRecordBytes;
  return boundsForModel.find(fits) ?? short;
}

/** In an array, or in an envelope such as `{start, limit, total, users}`. */
function eachRecord(answer: unknown, change: (record: unknown) => unknown): unknown {
  if (Array.isArray(answer)) return answer.map(change);
  if (!isRecord(answer)) return change(answer);
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
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, cutTexts(inner, bounds, hint, depth + 1)]),
  );
}

function cut(text: string, longest: number, hint: string): string {
  // Do not end in a lone surrogate.
  const kept = text
    .slice(0, longest)
    .toWellFormed()
    .replace(/\ufffd$/, "");
  return `${kept}… [cut: ${text.length} characters in all${hint}]`;
}
