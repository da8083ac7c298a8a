import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { Field, TextArea, TextInput } from "../../../ui/field.tsx";
import { Panel } from "../../../ui/page.tsx";
import { textModelsQuery } from "../agent-queries.ts";
import type { AgentDraft } from "./agent-draft.rules.ts";

interface BasicsSectionProps {
  draft: AgentDraft;
  errors: Readonly<Record<string, string>>;
  onChange(change: Partial<AgentDraft>): void;
}

export function BasicsSection({ draft, errors, onChange }: BasicsSectionProps) {
  const models = useQuery(textModelsQuery);
  const listId = useId();
  return (
    <Panel title="Basics">
      <div className="flex flex-col gap-4">
        <Field label="Name" required error={errors.name} hint="Used in the agent's URL.">
          {(control) => (
            <TextInput
              {...control}
              maxLength={100}
              value={draft.name}
              onChange={(event) => onChange({ name: event.target.value })}
            />
          )}
        </Field>
        <Field
          label="Goal"
          required
          error={errors.goal}
          hint={
            <>
              What the agent should achieve. Use <code>{"{{url}}"}</code> to insert the input field <code>url</code>.
            </>
          }
        >
          {(control) => (
            <TextArea
              {...control}
              rows={6}
              value={draft.goal}
              onChange={(event) => onChange({ goal: event.target.value })}
            />
          )}
        </Field>
        <Field
          label="Model"
          error={errors.model}
          hint={
            models.isError
              ? "Couldn't load the list of models. Enter one as owner/model."
              : "Any text model you can call, or one of your aliases."
          }
        >
          {(control) => (
            <>
              <TextInput
                {...control}
                list={listId}
                className="font-mono"
                value={draft.model}
                onChange={(event) => onChange({ model: event.target.value.trim() })}
              />
              <datalist id={listId}>
                {models.data?.map(({ endpoint_id, title }) => (
                  <option key={endpoint_id} value={endpoint_id}>
                    {title}
                  </option>
                ))}
              </datalist>
            </>
          )}
        </Field>
      </div>
    </Panel>
  );
}
