/** What a template may call beside its blocks. */
export interface TemplateFunction {
  least: number;
  most: number;
  call(args: readonly unknown[], work: Work): unknown;
}

/** Counts what a rendering does; throws when it does too much. */
export interface Work {
  /** Text that was made or looked through. */
  charge(characters: number): void;
}

/** The property of that name if it is the value's own: what a prototype has is not there. */
export function ownValue(value: unknown, name: string): unknown {
  if (typeof value !== "string" && (typeof value !== "object" || value === null)) return undefined;
  return Object.hasOwn(value as object, name) ? (value as Record<string, unknown>)[name] : undefined;
}

/** As Handlebars decides `if`: empty lists count as nothing. */
export function isTruthy(value: unknown): boolean {
  return Boolean(value) && !(Array.isArray(value) && value.length === 0);
}

/** A value in the text of the result. Handlebars writes an object as `[object Object]`, which is of no use to anyone. */
export function textOf(value: unknown, work: Work): string {
  const text = writtenOut(value, work);
  work.charge(text.length);
  return text;
}

function writtenOut(value: unknown, work: Work): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.map((entry) => textOf(entry, work)).join(",");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function isEqual(left: unknown, right: unknown, work: Work): boolean {
  if (typeof left === "string") work.charge(left.length);
  return left === right;
}

const two = { least: 2, most: 2 };
const some = { least: 1, most: 16 };

export const templateFunctions: ReadonlyMap<string, TemplateFunction> = new Map<string, TemplateFunction>([
  ["lookup", { ...two, call: ([value, name]) => ownValue(value, String(name)) }],
  ["eq", { ...two, call: ([left, right], work) => isEqual(left, right, work) }],
  ["ne", { ...two, call: ([left, right], work) => !isEqual(left, right, work) }],
  ["gt", { ...two, call: ([left, right]) => Number(left) > Number(right) }],
  ["lt", { ...two, call: ([left, right]) => Number(left) < Number(right) }],
  ["not", { least: 1, most: 1, call: ([value]) => !isTruthy(value) }],
  ["and", { ...some, call: (values) => values.find((value) => !isTruthy(value)) ?? values.at(-1) }],
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
        work.charge(separator.length * texts.length);
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
