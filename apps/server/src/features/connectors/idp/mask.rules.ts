import { type Action, findAction } from "./action-table.ts";

/** Stands for a secret wherever a person, a model, an event or a log could read it. */
export const hidden = "[hidden]";

type Steps = readonly string[];

/**
 * A copy of what the tenant answered (or is about to be sent) without its secrets. A path of the table is written for one
 * record, and holds for it bare, in an array, or in the array of an envelope such as `{start, limit, total, users}`:
 *
 *   a.b      under b of a            a[].b   in each element of a
 *   a.*      every value of a        a.**.b  under b, however deep below a
 */
export function maskRecords(answer: unknown, paths: readonly string[]): unknown {
  const copy = maskNames(answer);
  const steps = paths.map(stepsOf);
  for (const record of recordsIn(copy)) for (const path of steps) hideAt(record, path);
  return copy;
}

function stepsOf(path: string): Steps {
  // A leading [] only says that the answer is a list of records.
  return path
    .replace(/^\[\]\./, "")
    .replaceAll("[]", ".[]")
    .split(".");
}

function* recordsIn(answer: unknown): Generator<unknown> {
  if (Array.isArray(answer)) yield* answer;
  else if (isObject(answer)) {
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
    // A list where the table expects one: each of its elements.
    for (const element of here) hideAt(element, [step, ...rest]);
    return;
  }
  const record = here as Record<string, unknown>;
  for (const name of step === "*" ? Object.keys(record) : [step]) {
    if (!Object.hasOwn(record, name)) continue;
    if (rest.length > 0) hideAt(record[name], rest);
    // Null says that there is none, which is no secret.
    else if (record[name] !== null) record[name] = hidden;
  }
}

/** A deep copy; a text under a name that always means a secret is hidden on the way, as are those of a list there. */
function maskNames(value: unknown, isSecret = false): unknown {
  if (typeof value === "string") return isSecret ? hidden : value;
  if (Array.isArray(value)) return value.map((element) => maskNames(element, isSecret));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, maskNames(inner, isSecretName(name))]));
}

/** A shorter text would be found in every other word. */
const shortestSecret = 3;

/** The secret texts that masking hid: an error text of the tenant may repeat one of them. */
export function secretsIn(body: unknown, paths: readonly string[]): string[] {
  return hiddenIn(body, maskRecords(body, paths), shortestSecret);
}

/** What stands in the one and is hidden in the other, as far as it is not shorter than that. */
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
  } else if (isObject(plain) && isObject(masked)) {
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

/** The same for every text inside a value. */
export function scrubDeep(value: unknown, secrets: readonly string[]): unknown {
  return scrubEach(value, scrubberOf(secrets));
}

function scrubEach(value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === "string") return clean(value);
  if (Array.isArray(value)) return value.map((element) => scrubEach(element, clean));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, scrubEach(inner, clean)]));
}

/** In characters. Far more than records need; an answer made to be slow to look through is hidden from there on. */
const mostCompared = 50_000_000;

/** Looks for all secrets in one pass, as a page of records may hide hundreds of them. Of two at one place the longer. */
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

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Texts under such names are secrets wherever they stand, also where no path of the table names them. */
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

/** Names that only sound so: rules for passwords and moments of them, names and ids of keys, and the script of that name. */
const harmless = /(policy|reset|changed|date|_at|method|type|(key|password)[_-]?(name|id))$|^change_password$/i;

export function isSecretName(name: string): boolean {
  return secret.test(name) && !harmless.test(name);
}

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
