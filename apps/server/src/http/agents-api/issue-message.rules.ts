import type { Issue, Loc } from "../../kernel/errors.ts";

/** One line for who reads no `details`: where the first fault is, what it is, and how many there are. */
export function messageOfIssues(issues: readonly [Issue, ...Issue[]]): string {
  const [{ loc, msg }] = issues;
  const place = placeOf(loc);
  const told = place === "" ? msg : `${place}: ${msg}`;
  return issues.length === 1 ? told : `${told} (the first of ${issues.length} faults)`;
}

/** A place may be as deep, and a name in it as long, as its sender likes; `details` has the whole. */
const longestPlace = 100;

/** As it would be written in a program: `tools[1].agent_id`. The first step only says body, query or path. */
function placeOf([, ...steps]: Loc): string {
  const place = steps.reduce<string>((way, step) => {
    if (typeof step === "number") return `${way}[${step}]`;
    return way === "" ? step : `${way}.${step}`;
  }, "");
  return place.length > longestPlace ? `${place.slice(0, longestPlace).toWellFormed()}…` : place;
}
