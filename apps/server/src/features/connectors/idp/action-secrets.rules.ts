import { type Action, findAction } from "./action-table.ts";
import { hiddenIn, maskRecords, scrubDeep, secretsIn } from "./mask.rules.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * What is sent, as questions, events and logs may show it. Only what `sensitive_input` names is hidden, beside names that
 * always mean a secret: who approves a script or a public key must be able to read it, though in an answer both are
 * hidden, for what the tenant keeps there may hold credentials.
 */
export function maskSent(action: Action, sent: Fields): Record<string, unknown> {
  return maskRecords(sent, action.sensitive_input ?? []) as Record<string, unknown>;
}

/**
 * The same of a call that somebody made up: undefined where its name is not of this connector. Of an action that there is
 * not, such as a name that is spelt wrong, what is secret by its name alone is hidden.
 */
export function maskCall(name: string, given: Fields): Record<string, unknown> | undefined {
  const action = findAction(name);
  if (action) return maskSent(action, given);
  return name.startsWith("idp_") ? (maskRecords(given, []) as Record<string, unknown>) : undefined;
}

export function secretsSent(action: Action, sent: Fields | undefined): string[] {
  return secretsIn(sent, action.sensitive_input ?? []);
}

/** In a whole answer a shorter one would be found in words that have nothing to do with it. */
const shortestRepeated = 6;

/**
 * What the tenant answered, without its secrets and those that were sent to it: neither where they belong nor where the
 * tenant repeats them, such as in a note.
 */
export function maskAnswer<T>(action: Action, answer: T, call: { sent: Fields | undefined; token: string }): T {
  const { redact_response: answered = [], sensitive_input: given = [] } = action;
  const masked = maskRecords(answer, [...answered, ...given]);
  const repeated = [
    ...hiddenIn(answer, masked, shortestRepeated),
    ...secretsSent(action, call.sent).filter(({ length }) => length >= shortestRepeated),
  ];
  return scrubDeep(masked, [call.token, ...repeated]) as T;
}
