import { Fault, type Loc } from "../../kernel/errors.ts";

/** The store does not know which field a file came in; who called it does. Other errors pass unchanged. */
export function relocate(error: unknown, loc: Loc): unknown {
  if (!(error instanceof Fault) || error.status !== 422) return error;
  const [first, ...rest] = error.issues;
  return new Fault([{ ...first, loc }, ...rest], { cause: error.cause, retryable: error.retryable });
}
