import { Fault } from "../../kernel/errors.ts";

/** Undefined if what was listed was deleted before it was read. */
export async function unlessGone<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Fault && error.type === "not_found") return undefined;
    throw error;
  }
}
