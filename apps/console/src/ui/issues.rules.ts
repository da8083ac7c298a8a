import { GantryError } from "@gantry/sdk";

/** The field that an issue is about: ["body", "models", 0] is about `models`. */
const fieldOf = (loc: readonly (string | number)[]): string => String(loc[1] ?? "");

/** What the service says is wrong with one field of a form. */
export function issueAt(error: unknown, field: string): string | undefined {
  if (!(error instanceof GantryError)) return undefined;
  const messages = error.issues.filter(({ loc }) => fieldOf(loc) === field).map(({ message }) => message);
  return messages.length === 0 ? undefined : [...new Set(messages)].join(". ");
}

/** Whether all that is wrong is said at one of these fields, so that nothing is left to say elsewhere. */
export function isSaidAt(error: unknown, fields: readonly string[]): boolean {
  if (!(error instanceof GantryError) || error.issues.length === 0) return false;
  return error.issues.every(({ loc }) => fields.includes(fieldOf(loc)));
}
