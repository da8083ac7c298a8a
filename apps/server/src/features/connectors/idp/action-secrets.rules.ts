import type { Action } from "./action-table.ts";
import { maskRecords, scrubDeep, secretsIn } from "./mask.rules.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * What is sent, as questions, events and logs may show it. Only what `sensitive_input` names is hidden, beside names that
 * always mean a secret: who approves a script or a public key must be able to read it, though in an answer both are
 * hidden, for what the tenant keeps there may hold credentials.
 */
export function maskSent(action: Action, sent: Fields): Record<string, unknown> {
  return maskRecords(sent, action.sensitive_input ?? []) as Record<string, unknown>;
}

export function secretsSent(action: Action, sent: Fields | undefined): string[] {
  return secretsIn(sent, action.sensitive_input ?? []);
}

/** What the tenant answered, without its secrets and without the token, which the tenant may repeat. */
export function maskAnswer<T>(action: Action, answer: T, token: string): T {
  return scrubDeep(maskRecords(answer, action.redact_response ?? []), [token]) as T;
}
