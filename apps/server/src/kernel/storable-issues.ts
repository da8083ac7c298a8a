import type { Issue, Loc } from "./errors.ts";

/** Levels of nesting. Serialising a deeper value may overflow the stack. */
export const deepestBody = 40;

export function isWithinDepth(value: unknown, levels = deepestBody): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((entry) => isWithinDepth(entry, levels - 1));
}

/**
 * Problems of valid JSON that PostgreSQL cannot store: NUL, lone surrogates and numbers beyond a double. Stops at the
 * first value that is nested too deeply, because no other code may walk through such a body.
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
        msg: "Text contains characters that cannot be stored: NUL or a lone surrogate",
      });
    }
  } else if (typeof value === "number" && !Number.isFinite(value)) {
    issues.push({ type: "float_parsing", loc, msg: "Number is too large" });
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
