import type { ErrorType } from "@gantry/wire";
import type { Issue } from "../../../kernel/errors.ts";

/** What is wrong with a value; `path` leads into it. Where the value stands in the request is added by who reads it. */
export interface Problem {
  type: ErrorType;
  msg: string;
  ctx?: Record<string, unknown>;
  path?: readonly (string | number)[];
}

export type Report = (problem: Problem) => void;

const longestShownInput = 100;

/** Short texts are shown back to the caller; long ones would only blow up the answer. */
export function issueOf(field: string, { path = [], ...problem }: Problem, text?: string): Issue {
  const isShown = text !== undefined && text.length <= longestShownInput && path.length === 0;
  return { ...problem, loc: ["body", field, ...path], ...(isShown && { input: text }) };
}
