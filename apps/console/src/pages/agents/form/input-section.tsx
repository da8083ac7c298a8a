import { Plus, X } from "lucide-react";
import { useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { Checkbox, Select, TextInput } from "../../../ui/field.tsx";
import { type InputRow, nameFault, newRow, type RowType, rowsOf, rowTypes, withRows } from "./input-rows.rules.ts";
import { Section } from "./section.tsx";

interface InputSectionProps {
  schema: Record<string, unknown>;
  error: string | undefined;
  onChange(schema: Record<string, unknown>): void;
}

const typeNames: Record<RowType, string> = {
  string: "Text",
  integer: "Whole number",
  number: "Number",
  boolean: "Yes or no",
  array: "List",
  object: "Object",
};

/** What a run is given. Rows live here: two that have one name for a moment are still two. */
export function InputSection({ schema, error, onChange }: InputSectionProps) {
  const [rows, setRows] = useState(() => rowsOf(schema));
  const set = (next: InputRow[]) => {
    setRows(next);
    onChange(withRows(schema, next));
  };
  return (
    <Section
      title="Input"
      error={error}
      hint={
        <>
          What a run is given; in the goal it is written as <code>{"{{name}}"}</code>. More than this form shows can be
          said as JSON.
        </>
      }
    >
      {rows.map((row, at) => (
        <Row
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have nothing else that stays while their names are written.
          key={at}
          row={row}
          place={at + 1}
          fault={nameFault(rows, at)}
          onChange={(after) => set(rows.map((one, n) => (n === at ? after : one)))}
          onRemove={() => set(rows.filter((_, n) => n !== at))}
        />
      ))}
      <div>
        <Button icon={<Plus size={14} />} onClick={() => set([...rows, newRow])}>
          Add a field
        </Button>
      </div>
    </Section>
  );
}

interface RowProps {
  row: InputRow;
  place: number;
  fault: string | undefined;
  onChange(row: InputRow): void;
  onRemove(): void;
}

function Row({ row, place, fault, onChange, onRemove }: RowProps) {
  return (
    <div className="flex flex-col gap-1">
      <div className="flex flex-wrap items-center gap-2">
        <TextInput
          aria-label={`Name of field ${place}`}
          aria-invalid={fault ? true : undefined}
          placeholder="name"
          className="max-w-40 font-mono"
          value={row.name}
          onChange={(event) => onChange({ ...row, name: event.target.value.trim() })}
        />
        <Select
          aria-label={`Type of field ${place}`}
          className="max-w-36"
          value={row.type ?? ""}
          onChange={(event) => onChange({ ...row, type: event.target.value as RowType })}
          disabled={row.type === undefined}
        >
          {row.type === undefined && <option value="">See JSON</option>}
          {rowTypes.map((type) => (
            <option key={type} value={type}>
              {typeNames[type]}
            </option>
          ))}
        </Select>
        <TextInput
          aria-label={`Description of field ${place}`}
          placeholder="What it is (told to who fills it in)"
          className="min-w-40 flex-1"
          value={row.description}
          onChange={(event) => onChange({ ...row, description: event.target.value })}
        />
        <Checkbox
          label="Required"
          checked={row.required}
          onChange={(event) => onChange({ ...row, required: event.target.checked })}
        />
        <button
          type="button"
          aria-label={`Remove field ${place}`}
          className="rounded p-1 text-muted hover:bg-sunken hover:text-ink"
          onClick={onRemove}
        >
          <X size={14} />
        </button>
      </div>
      {fault && <p className="text-bad text-xs">{fault}</p>}
    </div>
  );
}
