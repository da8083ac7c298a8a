import { GantryError, type GantryIssue } from "@gantry/sdk";
import { readableIssue, readableMessage } from "./api-messages.rules.ts";
import { fieldIn } from "./field-errors.rules.ts";

export function issueText(issue: GantryIssue): string {
  // People have not typed the parameters of an address.
  const field = issue.loc[0] === "query" ? "" : fieldIn(issue.loc);
  const text = readableIssue(issue);
  return field === "" ? text : `${field}: ${text}`;
}

export const isConnectionError = (error: unknown): error is GantryError =>
  error instanceof GantryError && error.type === "connection_error";

export function errorText(error: unknown): string {
  if (isConnectionError(error)) return "Can't reach the server. Try again in a moment.";
  if (error instanceof GantryError && error.issues.length > 0) return error.issues.map(issueText).join("; ");
  return error instanceof Error ? readableMessage(error.message) : String(error);
}

/** A missing or forbidden resource stays so. */
export function isWorthRetrying(error: unknown): boolean {
  return !(error instanceof GantryError) || (error.status !== 403 && error.status !== 404);
}
