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

const texts: Record<Part, { label: string; hint: string }> = {
  planning: { label: "Planning", hint: "If set, each run starts with a plan." },
  tool_calling: { label: "Tool use", hint: "Guidance for using tools." },
  formatting: { label: "Output format", hint: "How the result should look." },
};

export function MoreSection({ draft, errors, onChange }: MoreSectionProps) {
  const { instructions } = draft;
  const setPart = (part: Part, text: string) => {
    const { [part]: _before, ...rest } = instructions;
    onChange({ instructions: text === "" ? rest : { ...rest, [part]: text } });
  };
  return (
    <Panel title="Instructions and output">
      <div className="flex flex-col gap-4">
        {instructionParts.map((part) => (
          <Field key={part} {...texts[part]} error={errors[`instructions.${part}`]}>
            {(control) => (
              <TextArea
                {...control}
                rows={2}
                value={instructions[part] ?? ""}
                onChange={(event) => setPart(part, event.target.value)}
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
          label="Summarize long conversations before they exceed the model's context window"
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
      hint="JSON Schema that the output must match. Leave empty to accept any JSON object or text."
      error={read && "fault" in read ? read.fault : error}
    >
      {(control) => <CodeArea {...control} rows={4} value={text} onChange={(event) => write(event.target.value)} />}
    </Field>
  );
}
