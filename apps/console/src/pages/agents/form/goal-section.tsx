import { Field, TextArea } from "../../../ui/field.tsx";
import type { SectionOfDraft } from "./agent-draft.rules.ts";
import { GoalFields } from "./goal-fields.tsx";
import { Section } from "./section.tsx";
import type { GoalInputs } from "./use-agent-draft.ts";

export function GoalSection({ draft, errors, inputs, onChange }: SectionOfDraft & { inputs: GoalInputs }) {
  return (
    <Section id="goal" title="Goal" startsOpen summary={draft.goal}>
      <Field
        label="Goal"
        required
        error={errors.goal}
        hint={
          <>
            What the agent should achieve. Write <code>{"{{url}}"}</code> to insert an input field named{" "}
            <code>url</code>.
          </>
        }
      >
        {(control) => (
          <TextArea
            {...control}
            rows={5}
            className="field-sizing-content max-h-112 min-h-32 leading-relaxed"
            value={draft.goal}
            onChange={(event) => onChange({ goal: event.target.value })}
          />
        )}
      </Field>
      <GoalFields draft={draft} inputs={inputs} />
    </Section>
  );
}
