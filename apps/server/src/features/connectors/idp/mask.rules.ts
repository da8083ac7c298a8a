import { isRecord } from "../../../kernel/is-record.ts";
import { type Action, findAction } from "./action-table.ts";

export const hidden = "[hidden]";

type Steps = readonly string[];

/**
 * A copy without secrets. A path of the table applies to one record, alone, in an array, or in the array of an envelope such
 * as `{start, limit, total, users}`:
 *
 *   a.b      field b of a            a[].b   field b of each element of a
 *   a.*      every field of a        a.**.b  field b at any depth in a
 */
export function maskRecords(answer: unknown, paths: readonly string[]): unknown {
  const copy = maskNames(answer);
  const steps = paths.map(stepsOf);
  for (const record of recordsIn(copy)) for (const path of steps) hideAt(record, path);
  return copy;
}

function stepsOf(path: string): Steps {
  // A leading [] only marks a list of records.
  return path
    .replace(/^\[\]\./, "")
    .replaceAll("[]", ".[]")
    .split(".");
}

function* recordsIn(answer: unknown): Generator<unknown> {
  if (Array.isArray(answer)) yield* answer;
  else if (isRecord(answer)) {
    yield answer;
    for (const value of Object.values(answer)) if (Array.isArray(value)) yield* value;
  }
}

function hideAt(here: unknown, [step, ...rest]: Steps): void {
  if (step === undefined || typeof here !== "object" || here === null) return;
  if (step === "[]") {
    for (const element of Array.isArray(here) ? here : [here]) hideAt(element, rest);
    return;
  }
  if (step === "**") {
    hideAt(here, rest);
    for (const value of Object.values(here)) hideAt(value, [step, ...rest]);
    return;
  }
  if (Array.isArray(here)) {
    // A list instead of a single value.
    for (const element of here) hideAt(element, [step, ...rest]);
    return;
  }
  const record = here as Record<string, unknown>;
  for (const name of step === "*" ? Object.keys(record) : [step]) {
    if (!Object.hasOwn(record, name)) continue;
    if (rest.length > 0) hideAt(record[name], rest);
    // Null reveals nothing.
    else if (record[name] !== null) record[name] = hidden;
  }
}

/** Deep copy that hides texts under secret names. */
function maskNames(value: unknown, isSecret = false): unknown {
  if (typeof value === "string") return isSecret ? hidden : value;
  if (Array.isArray(value)) return value.map((element) => maskNames(element, isSecret));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, maskNames(inner, isSecretName(name))]));
}

/** Shorter texts would match everywhere. */
const shortestSecret = 3;

/** Secrets that masking hides. An error of the tenant may repeat them. */
export function secretsIn(body: unknown, paths: readonly string[]): string[] {
  return hiddenIn(body, maskRecords(body, paths), shortestSecret);
}

/** Texts of at least that length that are hidden in the masked copy. */
export function hiddenIn(plain: unknown, masked: unknown, shortest: number): string[] {
  const found = new Set<string>();
  collect(plain, masked, found);
  return [...found].filter((text) => text.length >= shortest);
}

function collect(plain: unknown, masked: unknown, found: Set<string>): void {
  if (masked === hidden && plain !== hidden) {
    for (const text of textsIn(plain)) found.add(text);
  } else if (Array.isArray(plain) && Array.isArray(masked)) {
    plain.forEach((element, index) => {
      collect(element, masked[index], found);
    });
  } else if (isRecord(plain) && isRecord(masked)) {
    for (const [name, value] of Object.entries(plain)) collect(value, masked[name], found);
  }
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "object" && value !== null) for (const inner of Object.values(value)) yield* textsIn(inner);
}

export function scrub(text: string, secrets: readonly string[]): string {
  return scrubberOf(secrets)(text);
}

export function scrubDeep(value: unknown, secrets: readonly string[]): unknown {
  return scrubEach(value, scrubberOf(secrets));
}

function scrubEach(value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === "string") return clean(value);
  if (Array.isArray(value)) return value.map((element) => scrubEach(element, clean));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, scrubEach(inner, clean)]));
}

/** Compared characters. Stops answers that are made to be slow: the rest is hidden. */
const mostCompared = 50_000_000;

/** Finds all secrets in one pass, the longest first: a page of records may contain hundreds. */
function scrubberOf(secrets: readonly string[]): (text: string) => string {
  const longestFirst = [...secrets].sort((a, b) => b.length - a.length);
  const firsts = new Set(secrets.map((secret) => secret.charCodeAt(0)));
  const byStart = new Map<string, { secrets: string[]; length: number }>();
  for (const [start, secrets] of Map.groupBy(longestFirst, (secret) => secret.slice(0, shortestSecret))) {
    byStart.set(start, { secrets, length: secrets.reduce((sum, { length }) => sum + length, 0) });
  }
  let compared = 0;
  return (text) => {
    let clean = "";
    let from = 0;
    for (let at = 0; at + shortestSecret <= text.length; at++) {
      const near = firsts.has(text.charCodeAt(at)) ? byStart.get(text.slice(at, at + shortestSecret)) : undefined;
      if (near === undefined) continue;
      compared += near.length;
      if (compared > mostCompared) return hidden;
      const found = near.secrets.find((secret) => text.startsWith(secret, at));
      if (found === undefined) continue;
      clean += text.slice(from, at) + hidden;
      from = at + found.length;
      at = from - 1;
    }
    return clean + text.slice(from);
  };
}

/** Field names that always mean a secret. */
const secret = new RegExp(
  [
    "secret$",
    "password(?!less)",
    "(private|access|master|sas|api|secret)[_-]?key",
    "(access|refresh|id|auth|twilio)[_-]?token$",
    "client_?assertion$",
    "^(proxy-)?authorization$",
    "^(set-)?cookie$",
  ].join("|"),
  "i",
);

/** Exceptions: password policies and dates, names and ids of keys, and the script `change_password`. */
const harmless = /(policy|reset|changed|date|_at|method|type|(key|password)[_-]?(name|id))$|^change_password$/i;

export function isSecretName(name: string): boolean {
  return secret.test(name) && !harmless.test(name);
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * A sent body for confirmations, events and logs. Hides less than `maskAnswer`: a person who approves a script must be able
 * to read it.
 */
export function maskSent(action: Action, sent: Fields): Record<string, unknown> {
  return maskRecords(sent, action.sensitive_input ?? []) as Record<string, unknown>;
}

/** For any tool call: undefined if it is not of this connector. For an unknown action only secret names are hidden. */
export function maskCall(name: string, given: Fields): Record<string, unknown> | undefined {
  const action = findAction(name);
  if (action) return maskSent(action, given);
  return name.startsWith("idp_") ? (maskRecords(given, []) as Record<string, unknown>) : undefined;
}

export function secretsSent(action: Action, sent: Fields | undefined): string[] {
  return secretsIn(sent, action.sensitive_input ?? []);
}

/** In a whole answer, shorter secrets would match unrelated words. */
const shortestRepeated = 6;

/** Hides secrets of the answer and of the sent body, also where the tenant repeats them. */
export function maskAnswer<T>(action: Action, answer: T, call: { sent: Fields | undefined; token: string }): T {
  const { redact_response: answered = [], sensitive_input: given = [] } = action;
  const masked = maskRecords(answer, [...answered, ...given]);
  const repeated = [
    ...hiddenIn(answer, masked, shortestRepeated),
    ...secretsSent(action, call.sent).filter(({ length }) => length >= shortestRepeated),
  ];
  return scrubDeep(masked, [call.token, ...repeated]) as T;
}
