import { Fault } from "../../kernel/errors.ts";

/** What a store says of an object that it has and cannot read; of a store that is away it says something else. */
export function isDamaged(error: unknown): boolean {
  return error instanceof Error && !(error instanceof Fault) && !("code" in error);
}
