import type { Loc } from "../../kernel/errors.ts";

/** Bytes that are UTF-8 have no half pairs: one can only be written as an escape. */
const escapedHalf = /\\u[dD][89a-fA-F]/;

/** A part of a body: where it stands is told only of the one that is looked for. */
interface Part {
  value: unknown;
  step?: string | number;
  within?: Part;
}

/**
 * Where in what was read from a JSON text there is half of a surrogate pair, in a text or in a field's name; undefined
 * where there is none. Goes level by level without calling itself: nothing has looked yet how deep it is.
 */
export function halfPairIn(json: string, body: unknown): Loc | undefined {
  if (!escapedHalf.test(json)) return undefined;
  const parts: Part[] = [{ value: body }];
  for (const part of parts) {
    const { value, step } = part;
    if ((typeof step === "string" && !step.isWellFormed()) || (typeof value === "string" && !value.isWellFormed())) {
      return locOf(part);
    }
    if (typeof value !== "object" || value === null) continue;
    for (const [key, each] of Object.entries(value)) {
      parts.push({ value: each, step: Array.isArray(value) ? Number(key) : key, within: part });
    }
  }
  return undefined;
}

function locOf(part: Part): Loc {
  const loc: (string | number)[] = [];
  for (let at: Part | undefined = part; at?.step !== undefined; at = at.within) loc.unshift(at.step);
  return loc;
}
