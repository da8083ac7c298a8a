import { useState } from "react";
import { Checkbox, CodeArea, Field, TextArea } from "../../../ui/field.tsx";
import { pretty, readObject } from "../../../ui/json.rules.ts";
import { Panel } from "../../../ui/page.tsx";
import { type AgentDraft, instructionParts } from "./agent-draft.rules.ts";

interface MoreSectionProps {
  draft: AgentDraft;
  errors: Readonly<Record<string, string>>;
  onChange(change: Partial<AgentDraft>): void;
}

type Part = (typeof instructionParts)[number];

const words: Record<Part, { label: string; hint: string }> = {
  planning: { label: "When it plans", hint: "With something here, a run begins with a plan." },
  tool_calling: { label: "When it calls tools", hint: "What to heed in the use of tools." },
  formatting: { label: "When it writes the output", hint: "How the result is to look." },
};

/** What most agents can do without. */
export function MoreSection({ draft, errors, onChange }: MoreSectionProps) {
  const { instructions } = draft;
  const say = (part: Part, text: string) => {
    const { [part]: _before, ...rest } = instructions;
    onChange({ instructions: text === "" ? rest : { ...rest, [part]: text } });
  };
  return (
    <Panel title="Instructions and output">
      <div className="flex flex-col gap-4">
        {instructionParts.map((part) => (
          <Field key={part} {...words[part]} error={errors[`instructions.${part}`]}>
            {(control) => (
              <TextArea
                {...control}
                rows={2}
                value={instructions[part] ?? ""}
                onChange={(event) => say(part, event.target.value)}
              />
            )}
          </Field>
        ))}
        <OutputSchema
          schema={draft.output_schema}
          error={errors.output_schema}
          onChange={(output_schema) => onChange({ output_schema })}
        />
        <Checkbox
          label="Summarise a conversation before it outgrows the model's window"
          checked={draft.context_compression}
          onChange={(event) => onChange({ context_compression: event.target.checked })}
        />
      </div>
    </Panel>
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
      hint="A JSON Schema that the output must satisfy. Empty: the model's JSON object, or its text."
      error={read && "fault" in read ? read.fault : error}
    >
      {(control) => <CodeArea {...control} rows={4} value={text} onChange={(event) => write(event.target.value)} />}
    </Field>
  );
}
