import { GantryError, type GantryIssue } from "@gantry/sdk";
import { readableIssue } from "./api-messages.rules.ts";

type Location = GantryIssue["loc"];

/** The field of an issue, such as `auth.token`; empty if the issue is about the whole request. */
export const fieldIn = ([, ...path]: Location): string => path.join(".");

export interface FieldErrors {
  /** Messages by field name, such as `auth.token`. */
  of: Readonly<Record<string, string>>;
  /** The failure, unless the messages of the fields cover all of it. */
  rest: unknown;
  failure: unknown;
}

/** Assigns the issues of an error to the fields of a form. */
export function fieldErrors(failure: unknown, fields: readonly string[]): FieldErrors {
  if (!failure) return { of: {}, rest: undefined, failure: undefined };
  const issues = failure instanceof GantryError ? failure.issues : [];
  const messagesOf = new Map<string, Set<string>>();
  let placed = 0;
  for (const issue of issues) {
    const { loc } = issue;
    const name = fieldAround(loc, fields);
    if (name === undefined) continue;
    const inside = fieldIn(loc).slice(name.length + 1);
    const readable = readableIssue(issue);
    const text = isHelpful(inside) ? `${inside}: ${readable}` : readable;
    messagesOf.set(name, (messagesOf.get(name) ?? new Set()).add(text));
    placed++;
  }
  return {
    of: Object.fromEntries(Array.from(messagesOf, ([name, messages]) => [name, [...messages].join("; ")])),
    rest: issues.length > 0 && placed === issues.length ? undefined : failure,
    failure,
  };
}

/** The field itself, or its closest ancestor: a form may have one input for a whole object. */
function fieldAround(loc: Location, fields: readonly string[]): string | undefined {
  for (let length = loc.length; length > 1; length--) {
    const name = fieldIn(loc.slice(0, length));
    if (fields.includes(name)) return name;
  }
  return undefined;
}

/** A bare index does not help a user who sees the list. */
const isHelpful = (inside: string): boolean => /[^\d.]/.test(inside);
