import { Checkbox, Field, TextArea } from "../../../ui/field.tsx";
import { type SectionOfDraft, withInstruction } from "./agent-draft.rules.ts";
import { Section } from "./section.tsx";

const parts = [
  ["planning", "Planning", "If set, each run starts with a plan."],
  ["tool_calling", "Tool use", "Guidance for using tools."],
] as const;

export function AdvancedSection({ draft, errors, onChange }: SectionOfDraft) {
  const { instructions, context_compression } = draft;
  const set = parts.filter(([part]) => instructions[part] !== undefined).map(([, label]) => label);
  return (
    <Section
      id="advanced"
      title="Advanced"
      startsOpen={set.length > 0}
      summary={[...set, ...(context_compression ? [] : ["No summaries"])].join(", ") || "Defaults"}
      hint="Cost, time and step limits are set when you start a run."
    >
      {parts.map(([part, label, hint]) => (
        <Field key={part} label={label} hint={hint} error={errors[`instructions.${part}`]}>
          {(control) => (
            <TextArea
              {...control}
              rows={2}
              value={instructions[part] ?? ""}
              onChange={(event) => onChange({ instructions: withInstruction(instructions, part, event.target.value) })}
            />
          )}
        </Field>
      ))}
      <Checkbox
        label="Summarize long conversations before they exceed the model's context window"
        checked={context_compression}
        onChange={(event) => onChange({ context_compression: event.target.checked })}
      />
    </Section>
  );
}
