import { useState } from "react";
import { CodeBlock } from "../../ui/code.tsx";
import { CodeArea, Field, Select } from "../../ui/field.tsx";
import { pretty, readObject } from "../../ui/json.rules.ts";
import { previewInput } from "./preview.rules.ts";
import type { TriggerPartProps } from "./trigger-parts.tsx";

/** How the request becomes the input of the run, with a preview. */
export function TriggerInput({ entered, errors, onChange }: TriggerPartProps) {
  return (
    <>
      <Field label="Input of the run">
        {(control) => (
          <Select
            {...control}
            value={entered.input}
            onChange={(event) => onChange({ ...entered, input: event.target.value === "body" ? "body" : "template" })}
          >
            <option value="template">Filled from the request by a template</option>
            <option value="body">The body of the request, a JSON object</option>
          </Select>
        )}
      </Field>
      {entered.input === "template" && (
        <>
          <Field
            label="Template"
            error={errors.input}
            hint={
              <>
                JSON with placeholders: <code>{"{{body.…}}"}</code>, <code>{"{{headers.…}}"}</code>,{" "}
                <code>{"{{query.…}}"}</code>. A text that is one placeholder keeps the type of the value.
              </>
            }
          >
            {(control) => (
              <CodeArea
                {...control}
                rows={5}
                value={entered.template}
                onChange={(event) => onChange({ ...entered, template: event.target.value })}
              />
            )}
          </Field>
          <Preview template={entered.template} />
        </>
      )}
    </>
  );
}

function Preview({ template }: { template: string }) {
  const [sample, setSample] = useState("");
  const body = readObject(sample);
  const read = readObject(template);
  const isReady = "value" in body && "value" in read;
  const input = isReady ? previewInput(read.value, { body: body.value, headers: {}, query: {} }) : undefined;
  return (
    <details>
      <summary className="w-fit cursor-pointer rounded font-medium text-muted hover:text-ink">
        Preview with a sample request
      </summary>
      <div className="mt-3 grid gap-3 sm:grid-cols-2">
        <Field
          label="Sample body"
          hint="JSON, as the service sends it. Not saved."
          error={sample !== "" && "fault" in body ? body.fault : undefined}
        >
          {(control) => (
            <CodeArea {...control} rows={6} value={sample} onChange={(event) => setSample(event.target.value)} />
          )}
        </Field>
        {isReady &&
          (input === undefined ? (
            <p className="text-muted">Templates with blocks or helpers are filled by the server only.</p>
          ) : (
            <CodeBlock wrap label="Input of the run" language="json" text={pretty(input)} />
          ))}
      </div>
    </details>
  );
}
