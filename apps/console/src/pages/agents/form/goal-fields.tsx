import { Plus, Undo2 } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "../../../ui/button.tsx";
import type { AgentDraft } from "./agent-draft.rules.ts";
import { missingFields, unusedFields } from "./goal-fields.rules.ts";
import type { GoalInputs } from "./use-agent-draft.ts";

/** How the goal and the input fields fit together, while the user types. */
export function GoalFields({ draft, inputs }: { draft: AgentDraft; inputs: GoalInputs }) {
  const missing = missingFields(draft.goal, draft.input_schema);
  const unused = draft.goal.trim() === "" ? [] : unusedFields(draft.goal, draft.input_schema);
  return (
    <ul aria-label="Input fields of the goal" aria-live="polite" className="flex flex-col gap-1.5 empty:hidden">
      {inputs.added.map((name) => (
        <Note key={name} tone="text-good">
          <span>
            Added the input field <code>{name}</code>.
          </span>
          <Button kind="quiet" icon={<Undo2 size={14} />} aria-label={`Undo ${name}`} onClick={() => inputs.undo(name)}>
            Undo
          </Button>
        </Note>
      ))}
      {missing.map((field) => (
        <Note key={field.name} tone="text-warn">
          <span>
            <code>{`{{${field.name}}}`}</code> isn't an input field yet, so it stays empty.
          </span>
          <Button icon={<Plus size={14} />} aria-label={`Add field ${field.name}`} onClick={() => inputs.add(field)}>
            Add field
          </Button>
        </Note>
      ))}
      {unused.length > 0 && (
        <Note tone="text-muted">
          <span>
            Not in the goal:{" "}
            {unused.map((name, at) => (
              <span key={name}>
                {at > 0 && ", "}
                <code>{name}</code>
              </span>
            ))}
            . The agent still receives {unused.length === 1 ? "this field" : "these fields"} with the input.
          </span>
        </Note>
      )}
    </ul>
  );
}

function Note({ tone, children }: { tone: string; children: ReactNode }) {
  return <li className={`flex flex-wrap items-center gap-x-2 gap-y-1 ${tone}`}>{children}</li>;
}
