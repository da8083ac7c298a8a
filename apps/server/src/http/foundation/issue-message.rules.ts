import type { Issue, Loc } from "../../kernel/errors.ts";

/** A one-line summary: location and text of the first fault, and the number of faults. */
export function messageOfIssues(issues: readonly [Issue, ...Issue[]]): string {
  const [{ loc, msg }] = issues;
  const path = pathOf(loc);
  const text = path === "" ? visible(msg) : `${path}: ${visible(msg)}`;
  return issues.length === 1 ? text : `${text} (the first of ${issues.length} faults)`;
}

/** A path may be as deep, and its names as long, as the sender likes; `details` has all of it. */
const maxPathLength = 100;

/** Names that need no quotes. */
const plainName = /^[A-Za-z_$][\w$-]*$/;

/**
 * Escapes invisible and bidirectional characters, so that a name sent by a user cannot break or reorder the message.
 */
function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) =>
    char
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

/** As in code: `tools[1].agent_id`, `input["two words"]`. Leaves out the first step: body, query or path. */
function pathOf([, ...steps]: Loc): string {
  const place = steps.reduce<string>((way, step) => {
    if (typeof step === "number") return `${way}[${step}]`;
    if (!plainName.test(step)) return `${way}[${visible(JSON.stringify(step))}]`;
    return way === "" ? step : `${way}.${step}`;
  }, "");
  return place.length > maxPathLength ? `${place.slice(0, maxPathLength).toWellFormed()}…` : place;
}
