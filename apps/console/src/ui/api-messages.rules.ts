import type { GantryIssue } from "@gantry/sdk";

/** Messages that the API contract fixes, in terms of the console. */
const messages: Readonly<Record<string, string>> = {
  "Field required": "This field is required",
  "Invalid API key": "This API key is not valid. Check that you have copied all of it",
  "Insufficient funds": "Your balance is too low",
  "Project not found": "Model not found",
  "Project is not active": "This model is inactive",
  "API key does not have access to the project": "You don't have access to this model",
  "The agent has no published revision": "This agent isn't published yet",
  "The identity connector is not set up": "No identity tenant is connected",
};

/** Parts of messages that tell programs which route to call. People have a page for it. */
const routes: readonly [pattern: RegExp, text: string][] = [
  [/\bThe identity connector is not set up\b/g, "No identity tenant is connected"],
  [/[:.] (?:Store|store) domain and token with PUT \/v1\/connectors\/idp\.?/g, ". Connect one under Identity tenant."],
  [/: PUT \/v1\/connectors\/idp with domain and token\.?/g, ". Connect one under Identity tenant."],
  [/\b(store a new one|store it again) with PUT \/v1\/connectors\/idp\b/gi, "$1 under Identity tenant"],
  [/\bStore it with PUT \/api\/v2\/secrets\/\S+?(?=\.?(?:\s|$))/g, "Save it under Secrets"],
  [
    /\bStore it with PUT \/api\/v2\/admin\/secrets\/\S+?(?=\.?(?:\s|$))/g,
    "An admin can save it as a secret for everyone",
  ],
  [/ can store it with PUT \/api\/v2\/secrets\/\{name\}/g, " can save it under Secrets"],
  [/ can store it with PUT \/api\/v2\/admin\/secrets\/\{name\}/g, " can save it as a secret for everyone"],
  // The console has a button for it.
  [/ To accept it, change expected_price and enable the schedule\./g, ""],
  [/, of which (\$[\d.,]+) is reserved\b/g, ", of which $1 is on hold"],
];

export const readableMessage = (message: string): string =>
  messages[message] ?? routes.reduce((text, [pattern, readable]) => text.replace(pattern, readable), message);

/** Whether the field was left empty: a validator counts the characters of an empty text. */
const isEmpty = ({ type, ctx }: Pick<GantryIssue, "type" | "ctx">): boolean =>
  type === "missing" || (type === "sequence_too_short" && ctx?.min_length === 1);

export const readableIssue = (issue: Pick<GantryIssue, "type" | "ctx" | "message">): string =>
  isEmpty(issue) ? "This field is required" : readableMessage(issue.message);
