import type { Issue, Loc } from "./errors.ts";

/** Levels of nesting. What is deeper cannot be written out again without the risk of a stack overflow. */
export const deepestBody = 40;

/** Whether whoever goes down into it level by level, and be it to write it out, comes to its end. */
export function isWithinDepth(value: unknown, levels = deepestBody): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((entry) => isWithinDepth(entry, levels - 1));
}

/**
 * What is JSON but cannot be kept: NUL and half surrogates are no text to PostgreSQL, and a number too large for a
 * double has become Infinity. Stops at the first place that is nested too deeply: nothing else may look at such a body.
 */
export function storableIssues(body: unknown, maxDepth = deepestBody): { issues: Issue[]; isTooDeep: boolean } {
  const issues: Issue[] = [];
  return { isTooDeep: !look(body, ["body"], maxDepth, issues), issues };
}

function look(value: unknown, loc: Loc, maxDepth: number, issues: Issue[]): boolean {
  if (typeof value === "string") {
    if (value.includes("\0") || !value.isWellFormed()) {
      issues.push({
        type: "value_error",
        loc,
        msg: "The text has characters that cannot be stored: NUL, or half of a character",
      });
    }
  } else if (typeof value === "number" && !Number.isFinite(value)) {
    issues.push({ type: "float_parsing", loc, msg: "The number is too large" });
  } else if (typeof value === "object" && value !== null) {
    if (loc.length > maxDepth) {
      issues.push({ type: "json_invalid", loc, msg: `Nested more than ${maxDepth} levels deep` });
      return false;
    }
    for (const [key, entry] of Object.entries(value)) {
      const at = [...loc, Array.isArray(value) ? Number(key) : key];
      if (!look(key, at, maxDepth, issues) || !look(entry, at, maxDepth, issues)) return false;
    }
  }
  return true;
}
