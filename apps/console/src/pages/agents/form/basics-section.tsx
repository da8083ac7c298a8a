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
    <Panel title="What it does">
      <div className="flex flex-col gap-4">
        <Field label="Name" required error={errors.name} hint="Its address is made from it.">
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
              What a run is to reach, as a Handlebars template: <code>{"Summarise {{url}}."}</code> takes the field{" "}
              <code>url</code> that stands under Input.
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
              ? "The models could not be listed: write one as owner/model."
              : "Any text model you may call."
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
