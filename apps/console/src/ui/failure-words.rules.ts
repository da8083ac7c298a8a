import { GantryError, type GantryIssue } from "@gantry/sdk";
import { fieldIn } from "./field-errors.rules.ts";

/** What is wrong with a field after its name; the rest of a request has none. */
export function wordsOfIssue({ loc, message }: GantryIssue): string {
  const field = fieldIn(loc);
  return field === "" ? message : `${field}: ${message}`;
}

/** There was no answer. What the browser calls that tells nobody what to do, and is told in small print. */
export const isOfConnection = (error: unknown): error is GantryError =>
  error instanceof GantryError && error.type === "connection_error";

/** What a failure says to whoever did not expect one. */
export function wordsOf(error: unknown): string {
  if (isOfConnection(error)) return "The server does not answer. Try again in a moment.";
  if (error instanceof GantryError && error.issues.length > 0) return error.issues.map(wordsOfIssue).join("; ");
  return error instanceof Error ? error.message : String(error);
}

/** Whether asking once more may help: what is not there, or not ours to see, stays so. */
export function mayHelpToRetry(error: unknown): boolean {
  return !(error instanceof GantryError) || (error.status !== 403 && error.status !== 404);
}
