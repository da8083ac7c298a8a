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
  integer: "Integer",
  number: "Number",
  boolean: "Yes or no",
  array: "List",
  object: "Object",
};

/** Keeps the rows as state, because a schema cannot hold two rows that have the same name while the user types. */
export function InputSection({ schema, error, onChange }: InputSectionProps) {
  const [rows, setRows] = useState(() => rowsOf(schema));
  // The goal adds and removes fields too.
  if (JSON.stringify(withRows(schema, rows)) !== JSON.stringify(withRows(schema, rowsOf(schema))))
    setRows(rowsOf(schema));
  const set = (next: InputRow[]) => {
    setRows(next);
    onChange(withRows(schema, next));
  };
  return (
    <Section
      id="inputs"
      title="Inputs"
      error={error}
      startsOpen
      summary={rows.map(({ name }) => name).join(", ") || "Any input"}
      hint={
        <>
          Fields to fill in before a run. Writing <code>{"{{name}}"}</code> in the goal adds one. Switch to JSON for
          advanced schemas.
        </>
      }
    >
      {rows.map((row, at) => (
        <Row
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no stable key while their names are edited.
          key={at}
          row={row}
          position={at + 1}
          fault={nameFault(rows, at)}
          onChange={(after) => set(rows.map((other, n) => (n === at ? after : other)))}
          onRemove={() => set(rows.filter((_, n) => n !== at))}
        />
      ))}
      <div>
        <Button icon={<Plus size={14} />} onClick={() => set([...rows, newRow])}>
          Add field
        </Button>
      </div>
    </Section>
  );
}

interface RowProps {
  row: InputRow;
  position: number;
  fault: string | undefined;
  onChange(row: InputRow): void;
  onRemove(): void;
}

function Row({ row, position, fault, onChange, onRemove }: RowProps) {
  return (
    <div className="flex flex-col gap-2 rounded-md border border-line p-2.5">
      <div className="flex flex-wrap items-center gap-2">
        <TextInput
          aria-label={`Name of field ${position}`}
          aria-invalid={fault ? true : undefined}
          placeholder="name"
          className="min-w-28 max-w-60 flex-1 font-mono"
          value={row.name}
          onChange={(event) => onChange({ ...row, name: event.target.value.trim() })}
        />
        <Select
          aria-label={`Type of field ${position}`}
          className="max-w-32"
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
        <Checkbox
          label="Required"
          checked={row.required}
          onChange={(event) => onChange({ ...row, required: event.target.checked })}
        />
        <button
          type="button"
          aria-label={`Remove field ${row.name || position}`}
          className="ml-auto rounded p-1 text-muted hover:bg-sunken hover:text-ink"
          onClick={onRemove}
        >
          <X size={14} />
        </button>
      </div>
      <TextInput
        aria-label={`Description of field ${position}`}
        placeholder="Description, shown with the field"
        value={row.description}
        onChange={(event) => onChange({ ...row, description: event.target.value })}
      />
      {fault && <p className="text-bad text-xs">{fault}</p>}
    </div>
  );
}
