import { GantryError } from "@gantry/sdk";

/** What the service says is wrong with one field of the body, or with anything inside it. */
export function errorAt(error: unknown, ...path: readonly (string | number)[]): string | undefined {
  if (!(error instanceof GantryError)) return undefined;
  const said = error.issues.filter(({ loc }) => path.every((part, at) => String(loc[at + 1]) === String(part)));
  if (said.length === 0) return undefined;
  const inside = (loc: readonly (string | number)[]) => loc.slice(path.length + 1).join(".");
  return said.map(({ loc, message }) => (inside(loc) ? `${inside(loc)}: ${message}` : message)).join("; ");
}

/** Whether every fault is of one of these fields, and so is shown there. */
export function isAllAt(error: unknown, fields: readonly string[]): boolean {
  if (!(error instanceof GantryError) || error.issues.length === 0) return false;
  return error.issues.every(({ loc }) => fields.includes(String(loc[1])));
}
