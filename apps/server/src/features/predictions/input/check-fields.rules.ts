import { asksNothing, type Manifest } from "@gantry/wire";
import type { Issue } from "../../../kernel/errors.ts";
import { holdsConversations } from "../../models/index.ts";
import { checkUser, checkWebhook } from "./check-extras.rules.ts";
import type { CheckedFields, ReceivedFile } from "./checked-fields.ts";
import { FileLists } from "./file-lists.rules.ts";
import { type FormEntry, issueOf } from "./form.ts";
import type { FieldPlan, InputPlan } from "./plan-input.rules.ts";

/** The parts that a route accepts beside the model's fields. */
export interface Extras {
  user: boolean;
  webhook: boolean;
}

/** Checks everything that needs no fetching. Collects all issues. */
export function checkFields<F>(
  plan: InputPlan,
  entries: readonly FormEntry<ReceivedFile<F>>[],
  extras: Extras,
): CheckedFields<F> {
  const checked: CheckedFields<F> = {
    values: Object.create(null),
    addresses: [],
    files: [],
    lists: new Set(),
    user: undefined,
    webhook: undefined,
    issues: [],
  };
  const seen = new Set<string>();
  const lists = new FileLists();
  for (const entry of entries) {
    const field = plan.byWireName.get(entry.name);
    if (field?.kind === "file" && field.list) {
      lists.add(checked, field, entry);
      continue;
    }
    const canonical = field?.name ?? entry.name;
    if (seen.has(canonical)) {
      checked.issues.push(repeatedField(entry.name));
      continue;
    }
    seen.add(canonical);
    if (field) checkEntry(checked, field, entry, seen);
    else checkExtra(checked, entry, extras);
  }
  lists.end(checked);
  for (const field of plan.fields) {
    if (seen.has(field.name) || (field.kind === "file" && checked.lists.has(field))) continue;
    if (field.isRequired) checked.issues.push(missing(field.name));
    else useDefault(checked, field);
  }
  return checked;
}

function checkEntry<F>(
  checked: CheckedFields<F>,
  field: FieldPlan,
  entry: FormEntry<ReceivedFile<F>>,
  seen: Set<string>,
): void {
  if ("file" in entry) {
    if (field.kind === "text") checked.issues.push(notText(entry.name));
    else if ("issue" in entry.file) checked.issues.push(entry.file.issue);
    else checked.files.push({ field, file: entry.file.file, index: 0 });
    return;
  }
  const { value: text } = entry;
  if (field.isNullable && (text === "" || text === "null")) {
    useDefault(checked, field);
    return;
  }
  if (field.kind === "file") {
    // An empty file input counts as missing.
    if (text === "") seen.delete(field.name);
    else checked.addresses.push({ field, sentAs: entry.name, address: text, index: 0 });
    return;
  }
  const value = field.convert(text, (problem) => checked.issues.push(issueOf(entry.name, problem, text)));
  if (value !== undefined) checked.values[field.name] = value;
}

/** Null selects the default. Without one, the field is absent. */
function useDefault<F>(checked: CheckedFields<F>, field: FieldPlan): void {
  if (field.kind === "text" && field.default !== undefined) checked.values[field.name] = field.default;
}

function checkExtra<F>(checked: CheckedFields<F>, entry: FormEntry<ReceivedFile<F>>, extras: Extras): void {
  const isKnown = (entry.name === "user" && extras.user) || (entry.name === "webhook" && extras.webhook);
  if (!isKnown) {
    checked.issues.push(unknownField(entry.name));
  } else if ("file" in entry) {
    checked.issues.push(notText(entry.name));
  } else {
    const report = (problem: Parameters<typeof issueOf>[1]) =>
      checked.issues.push(issueOf(entry.name, problem, entry.value));
    if (entry.name === "user") checked.user = checkUser(entry.value, report);
    else checked.webhook = checkWebhook(entry.value, report);
  }
}

/** For a body that is not a form. `ctx` describes it. */
export function missingFields(plan: InputPlan, ctx: Record<string, unknown>): Issue[] {
  const required = plan.fields.filter((field) => field.isRequired).map((field) => ({ ...missing(field.name), ctx }));
  return required.length > 0 ? required : [{ type: "missing", loc: ["body"], msg: "Field required", ctx }];
}

export const missing = (name: string): Issue => ({ type: "missing", loc: ["body", name], msg: "Field required" });

export const unknownField = (name: string): Issue =>
  issueOf(name, { type: "extra_forbidden", msg: "Extra inputs are not permitted" });

export const repeatedField = (name: string): Issue =>
  issueOf(name, { type: "extra_forbidden", msg: "The field is given more than once" });

export const notText = (name: string): Issue =>
  issueOf(name, { type: "string_type", msg: "Input should be text, not a file" });

/**
 * Chat models need a prompt or pictures: a request without either would be accepted and then fail. Not reported beside other
 * issues, because one of them may concern the picture.
 */
export function promptIssues(
  manifest: Pick<Manifest, "backend" | "backends" | "input">,
  { values, files, addresses, issues }: Pick<CheckedFields<unknown>, "values" | "files" | "addresses" | "issues">,
): Issue[] {
  // A manifest without the field is an error of the model's owner, reported when the model runs.
  if (!holdsConversations(manifest) || !Object.hasOwn(manifest.input.properties, "prompt")) return [];
  const isAsked = !asksNothing(values.prompt) || files.length > 0 || addresses.length > 0;
  return isAsked || issues.length > 0 ? [] : [missing("prompt")];
}
