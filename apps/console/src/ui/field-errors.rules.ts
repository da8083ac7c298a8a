import { GantryError } from "@gantry/sdk";

export interface FieldErrors {
  /** What is wrong with a field of the form, by its name; of one within another, as `auth.token`. */
  of: Readonly<Record<string, string>>;
  /** The failure, where the fields do not say all of it. */
  rest: unknown;
}

/** Sorts what the service refused by the fields of a form. `below`: where in the body the form's fields stand. */
export function fieldErrors(error: unknown, fields: readonly string[], below: readonly string[] = []): FieldErrors {
  if (!error) return { of: {}, rest: undefined };
  const prefix = ["body", ...below];
  const found: Record<string, string> = {};
  const issues = error instanceof GantryError ? error.issues : [];
  let placed = 0;
  for (const { loc, message } of issues) {
    if (!prefix.every((part, n) => loc[n] === part)) continue;
    const name = fieldAt(loc.slice(prefix.length), fields);
    if (name === undefined) continue;
    found[name] ??= message;
    placed++;
  }
  return { of: found, rest: issues.length > 0 && placed === issues.length ? undefined : error };
}

/** The field of that name, else the one around it: a form may have one box for a whole object. */
function fieldAt(loc: readonly (string | number)[], fields: readonly string[]): string | undefined {
  for (let length = loc.length; length > 0; length--) {
    const name = loc.slice(0, length).join(".");
    if (fields.includes(name)) return name;
  }
  return undefined;
}
