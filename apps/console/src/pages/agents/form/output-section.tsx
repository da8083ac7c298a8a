import { useState } from "react";
import { CodeArea, Field, TextArea } from "../../../ui/field.tsx";
import { pretty, readObject } from "../../../ui/json.rules.ts";
import { type AgentDraft, type SectionOfDraft, withInstruction } from "./agent-draft.rules.ts";
import { Section } from "./section.tsx";

export function OutputSection({ draft, errors, onChange }: SectionOfDraft) {
  const { instructions, output_schema } = draft;
  const isSet = output_schema !== null || instructions.formatting !== undefined;
  return (
    <Section
      id="output"
      title="Output"
      startsOpen={isSet}
      summary={output_schema === null ? (instructions.formatting ?? "Text or any JSON object") : "JSON Schema"}
      hint="Without a schema the output is the JSON object that the model returns, or text."
    >
      <Field label="Format" hint="How the result should look." error={errors["instructions.formatting"]}>
        {(control) => (
          <TextArea
            {...control}
            rows={2}
            placeholder="For example: at most five sentences."
            value={instructions.formatting ?? ""}
            onChange={(event) =>
              onChange({ instructions: withInstruction(instructions, "formatting", event.target.value) })
            }
          />
        )}
      </Field>
      <OutputSchema
        schema={output_schema}
        error={errors.output_schema}
        onChange={(schema) => onChange({ output_schema: schema })}
      />
    </Section>
  );
}

interface OutputSchemaProps {
  schema: AgentDraft["output_schema"];
  error: string | undefined;
  onChange(schema: AgentDraft["output_schema"]): void;
}

function OutputSchema({ schema, error, onChange }: OutputSchemaProps) {
  const [text, setText] = useState(schema === null ? "" : pretty(schema));
  const read = text.trim() === "" ? undefined : readObject(text);
  const write = (next: string) => {
    setText(next);
    const now = next.trim() === "" ? undefined : readObject(next);
    if (!now) onChange(null);
    else if ("value" in now) onChange(now.value);
  };
  return (
    <Field
      label="Output schema"
      hint="JSON Schema that the output must match. Leave empty to accept any JSON object or text."
      error={read && "fault" in read ? read.fault : error}
    >
      {(control) => <CodeArea {...control} rows={4} value={text} onChange={(event) => write(event.target.value)} />}
    </Field>
  );
}
