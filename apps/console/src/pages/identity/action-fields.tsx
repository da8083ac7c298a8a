import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { CodeArea, Field } from "../../ui/field.tsx";
import { SchemaField } from "../../ui/schema-field.tsx";
import type { SchemaField as FieldOfSchema, Typed } from "../../ui/schema-form.rules.ts";
import { type ActionForm, moreField } from "./action-form.rules.ts";

interface ActionFieldsProps {
  form: ActionForm;
  typed: Typed;
  errorOf(name: string): string | undefined;
  onType(name: string, text: string): void;
}

/** More optional fields than this start collapsed. */
const maxExpanded = 4;

export function ActionFields({ form, typed, errorOf, onType }: ActionFieldsProps) {
  const required = form.fields.filter(({ isRequired }) => isRequired);
  const optional = form.fields.filter(({ isRequired }) => !isRequired);
  const [isOpen, setOpen] = useState(optional.length <= maxExpanded);
  const hasError = [moreField, ...optional.map(({ name }) => name)].some((name) => errorOf(name) !== undefined);
  const shown = (field: FieldOfSchema) => (
    <SchemaField
      key={field.name}
      field={field}
      value={typed[field.name] ?? ""}
      error={errorOf(field.name)}
      onValue={(text) => onType(field.name, text)}
    />
  );
  return (
    <>
      {required.map(shown)}
      {(optional.length > 0 || form.takesMore) && (
        <details
          open={isOpen || hasError}
          onToggle={(event) => setOpen(event.currentTarget.open)}
          className="group rounded-md border border-line"
        >
          <summary className="flex items-center gap-2 px-3 py-2 font-medium">
            <ChevronRight size={14} className="text-muted transition group-open:rotate-90" />
            Optional ({optional.length})
          </summary>
          <div className="flex flex-col gap-4 p-3 pt-1">
            {optional.map(shown)}
            {form.takesMore && (
              <Field
                label="More arguments"
                hint='JSON object, merged with the fields above. Use null to clear a value: {"name": null}.'
                error={errorOf(moreField)}
              >
                {(control) => (
                  <CodeArea
                    {...control}
                    rows={3}
                    value={typed[moreField] ?? ""}
                    onChange={(event) => onType(moreField, event.target.value)}
                  />
                )}
              </Field>
            )}
          </div>
        </details>
      )}
    </>
  );
}
