import { Field, TextArea, TextInput } from "../../../ui/field.tsx";
import type { SectionOfDraft } from "./agent-draft.rules.ts";
import { Section } from "./section.tsx";

export function BasicsSection({ draft, errors, onChange }: SectionOfDraft) {
  return (
    <Section id="basics" title="Basics" startsOpen summary={draft.name}>
      <Field label="Name" required error={errors.name} hint="Used in the agent's URL.">
        {(control) => (
          <TextInput {...control} value={draft.name} onChange={(event) => onChange({ name: event.target.value })} />
        )}
      </Field>
      <Field
        label="Description"
        error={errors.description}
        hint="One sentence on what the agent does. Shown in the marketplace, and to models that can call the agent."
      >
        {(control) => (
          <TextArea
            {...control}
            rows={2}
            className="field-sizing-content min-h-14"
            value={draft.description ?? ""}
            // One line of text, but long enough to wrap.
            onKeyDown={(event) => event.key === "Enter" && event.preventDefault()}
            onChange={(event) => onChange({ description: event.target.value || null })}
          />
        )}
      </Field>
    </Section>
  );
}
