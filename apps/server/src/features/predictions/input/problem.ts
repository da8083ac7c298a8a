import type { ValueProblem } from "@gantry/wire";
import type { Issue } from "../../../kernel/errors.ts";

/** Where the value stands in the request is added by who reads it. */
export type Problem = ValueProblem;

export type Report = (problem: Problem) => void;

const longestShownInput = 100;

/** Short texts are shown back to the caller; long ones would only blow up the answer. */
export function issueOf(field: string, { path = [], ...problem }: Problem, text?: string): Issue {
  const isShown = text !== undefined && text.length <= longestShownInput && path.length === 0;
  return { ...problem, loc: ["body", field, ...path], ...(isShown && { input: text }) };
}
