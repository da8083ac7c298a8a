import { GantryError, type GantryIssue } from "@gantry/sdk";

type Place = GantryIssue["loc"];

/** The field that an issue is about, as `auth.token`; empty where it is about the whole request. */
export const fieldIn = ([, ...path]: Place): string => path.join(".");

export interface FieldErrors {
  /** What is wrong with a field of the form, by its name; of one within another, as `auth.token`. */
  of: Readonly<Record<string, string>>;
  /** The failure, where the fields do not say all of it. */
  rest: unknown;
  /** The failure as it came; undefined if there was none. */
  failure: unknown;
}

/** Sorts what the service refused by the fields of a form. */
export function fieldErrors(failure: unknown, fields: readonly string[]): FieldErrors {
  if (!failure) return { of: {}, rest: undefined, failure: undefined };
  const issues = failure instanceof GantryError ? failure.issues : [];
  const said = new Map<string, Set<string>>();
  let placed = 0;
  for (const { loc, message } of issues) {
    const name = fieldAround(loc, fields);
    if (name === undefined) continue;
    const inside = fieldIn(loc).slice(name.length + 1);
    said.set(name, (said.get(name) ?? new Set()).add(isTelling(inside) ? `${inside}: ${message}` : message));
    placed++;
  }
  return {
    of: Object.fromEntries(Array.from(said, ([name, messages]) => [name, [...messages].join("; ")])),
    rest: issues.length > 0 && placed === issues.length ? undefined : failure,
    failure,
  };
}

/** The field itself, else the one around it: a form may have one box for a whole object. */
function fieldAround(loc: Place, fields: readonly string[]): string | undefined {
  for (let length = loc.length; length > 1; length--) {
    const name = fieldIn(loc.slice(0, length));
    if (fields.includes(name)) return name;
  }
  return undefined;
}

/** The number of an entry says nothing to whoever sees the entries. */
const isTelling = (inside: string): boolean => /[^\d.]/.test(inside);
