import { asksNothing, type Manifest } from "@gantry/wire";
import type { Issue } from "../../../kernel/errors.ts";
import { holdsConversations } from "../../models/index.ts";
import { type CheckedFields, missing } from "./check-fields.rules.ts";

/**
 * What a model that holds conversations is asked by is its prompt, or pictures; a call that has neither would be accepted
 * and fail with nothing to ask. Not told beside other faults: one of them may be about the picture.
 */
export function promptIssues(
  { backend, input }: Pick<Manifest, "backend" | "input">,
  { values, files, addresses, issues }: Pick<CheckedFields<unknown>, "values" | "files" | "addresses" | "issues">,
): Issue[] {
  // A manifest without the field is its owner's fault, and told as that when it is run.
  if (!holdsConversations({ backend }) || !Object.hasOwn(input.properties, "prompt")) return [];
  const isAsked = !asksNothing(values.prompt) || files.length > 0 || addresses.length > 0;
  return isAsked || issues.length > 0 ? [] : [missing("prompt")];
}
