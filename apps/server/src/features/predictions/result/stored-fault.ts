import { errorTable } from "@gantry/wire";
import { Fault, type Issue } from "../../../kernel/errors.ts";

/** An issue as it is kept with an ended prediction. */
export interface StoredIssue extends Issue {
  /** On the first one, where whoever ended it knew better than the table whether a repeat is worth it. */
  retryable?: boolean;
}

export function issuesToStore({ issues: [first, ...rest], type, retryable }: Fault): StoredIssue[] {
  return [retryable === errorTable[type].retryable ? first : { ...first, retryable }, ...rest];
}

/** The fault that a prediction ended with; undefined for one that did not fail. */
export function storedFault(error: readonly StoredIssue[] | null): Fault | undefined {
  const [stored, ...rest] = error ?? [];
  if (!stored) return undefined;
  const { retryable, ...first } = stored;
  return new Fault([first, ...rest], retryable === undefined ? {} : { retryable });
}
