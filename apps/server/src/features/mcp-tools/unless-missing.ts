import { Fault } from "../../kernel/errors.ts";

/** What is not there for the caller is nothing to fail about. */
export async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Fault && (error.type === "not_found" || error.type === "agent_not_published"))
      return undefined;
    throw error;
  }
}
