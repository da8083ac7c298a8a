import { count } from "../../../ui/format.ts";
import type { AgentDraft } from "./agent-draft.rules.ts";

/** Limits of the API. */
const longest = { name: 100, description: 500, goal: 65_536 } as const;

type CheckedField = keyof typeof longest;

const asks: Record<CheckedField, string> = {
  name: "Enter a name.",
  description: "Describe the agent, or leave this empty.",
  goal: "Describe what the agent should achieve.",
};

/**
 * Faults that are known while the user types. Empty fields count once the user tried to save: an empty form is not a
 * mistake.
 */
export function draftFaults(draft: AgentDraft, hasTried: boolean): Partial<Record<CheckedField, string>> {
  const found: Partial<Record<CheckedField, string>> = {};
  for (const field of Object.keys(longest) as CheckedField[]) {
    const text = draft[field] ?? "";
    const fault = faultOf(field, text);
    const isLeftOut = text === "" && (field === "description" || !hasTried);
    if (fault !== undefined && !isLeftOut) found[field] = fault;
  }
  return found;
}

function faultOf(field: CheckedField, text: string): string | undefined {
  const most = longest[field];
  if (text.trim() === "") return asks[field];
  if (text.length > most) return `Use at most ${count(most)} characters. You have ${count(text.length)}.`;
  if (field !== "goal" && /\p{Cc}/u.test(text)) return "Use one line of text, without line breaks or tabs.";
  return undefined;
}

/** Errors of the server, without those of fields that were edited since. */
export function currentErrors(
  errors: Readonly<Record<string, string>>,
  sent: AgentDraft | undefined,
  draft: AgentDraft,
): Record<string, string> {
  const isSame = (field: keyof AgentDraft) => JSON.stringify(sent?.[field]) === JSON.stringify(draft[field]);
  return Object.fromEntries(
    Object.entries(errors).filter(([field]) => isSame(field.split(".", 1)[0] as keyof AgentDraft)),
  );
}
