/** A helper that a template can call. */
export interface TemplateFunction {
  least: number;
  most: number;
  call(args: readonly unknown[], work: Work): unknown;
}

/** Throws when a rendering exceeds its bounds. */
export interface Work {
  /** Counts text that was produced or searched. */
  charge(characters: number): void;
}

/** Ignores inherited properties. */
export function ownValue(value: unknown, name: string): unknown {
  if (typeof value !== "string" && (typeof value !== "object" || value === null)) return undefined;
  return Object.hasOwn(value as object, name) ? (value as Record<string, unknown>)[name] : undefined;
}

/** As in Handlebars, an empty list is falsy. */
export function isTruthy(value: unknown): boolean {
  return Boolean(value) && !(Array.isArray(value) && value.length === 0);
}

/** Writes objects as JSON, unlike Handlebars (`[object Object]`). */
export function textOf(value: unknown, work: Work): string {
  const text = serialize(value, work);
  work.charge(text.length);
  return text;
}

function serialize(value: unknown, work: Work): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.map((entry) => textOf(entry, work)).join(",");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function isEqual(left: unknown, right: unknown, work: Work): boolean {
  if (typeof left === "string") work.charge(left.length);
  return left === right;
}

function numberOf(value: unknown, work: Work): number {
  if (typeof value === "number") return value;
  if (typeof value !== "string" || value === "") return Number.NaN;
  work.charge(value.length);
  return Number(value);
}

const two = { least: 2, most: 2 };
const some = { least: 1, most: 16 };

export const templateFunctions: ReadonlyMap<string, TemplateFunction> = new Map<string, TemplateFunction>([
  ["lookup", { ...two, call: ([value, name], work) => ownValue(value, textOf(name, work)) }],
  ["eq", { ...two, call: ([left, right], work) => isEqual(left, right, work) }],
  ["ne", { ...two, call: ([left, right], work) => !isEqual(left, right, work) }],
  ["gt", { ...two, call: ([left, right], work) => numberOf(left, work) > numberOf(right, work) }],
  ["lt", { ...two, call: ([left, right], work) => numberOf(left, work) < numberOf(right, work) }],
  ["not", { least: 1, most: 1, call: ([value]) => !isTruthy(value) }],
  [
    "and",
    { ...some, call: (values) => (values.every(isTruthy) ? values.at(-1) : values.find((value) => !isTruthy(value))) },
  ],
  ["or", { ...some, call: (values) => values.find(isTruthy) ?? values.at(-1) }],
  [
    "default",
    { ...two, call: ([value, other]) => (value === undefined || value === null || value === "" ? other : value) },
  ],
  [
    "join",
    {
      least: 1,
      most: 2,
      call([list, between = ", "], work) {
        const separator = textOf(between, work);
        const texts = (Array.isArray(list) ? list : [list]).map((entry) => textOf(entry, work));
        // Charge at least one character for each entry, even if the entry and the separator are empty.
        work.charge((separator.length + 1) * texts.length);
        return texts.join(separator);
      },
    },
  ],
  [
    "json",
    {
      least: 1,
      most: 1,
      call([value], work) {
        const text = JSON.stringify(value) ?? "null";
        work.charge(text.length);
        return text;
      },
    },
  ],
]);
