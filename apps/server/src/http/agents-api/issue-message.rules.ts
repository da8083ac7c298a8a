import type { Issue, Loc } from "../../kernel/errors.ts";

/** One line for who reads no `details`: where the first fault is, what it is, and how many there are. */
export function messageOfIssues(issues: readonly [Issue, ...Issue[]]): string {
  const [{ loc, msg }] = issues;
  const place = placeOf(loc);
  const told = place === "" ? visible(msg) : `${place}: ${visible(msg)}`;
  return issues.length === 1 ? told : `${told} (the first of ${issues.length} faults)`;
}

/** A place may be as deep, and a name in it as long, as its sender likes; `details` has the whole. */
const longestPlace = 100;

/** What needs no quotes in a place; others' names may hold anything. */
const plainName = /^[A-Za-z_$][\w$-]*$/;

/**
 * Written out, what nobody sees and what moves the rest: a name that somebody sent breaks no line, rings no bell and turns
 * no text around where the message is read.
 */
function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) =>
    char
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

/**
 * As it would be written in a program: `tools[1].agent_id`, `input["two words"]`. The first step only says body, query or
 * path.
 */
function placeOf([, ...steps]: Loc): string {
  const place = steps.reduce<string>((way, step) => {
    if (typeof step === "number") return `${way}[${step}]`;
    if (!plainName.test(step)) return `${way}[${visible(JSON.stringify(step))}]`;
    return way === "" ? step : `${way}.${step}`;
  }, "");
  return place.length > longestPlace ? `${place.slice(0, longestPlace).toWellFormed()}…` : place;
}
