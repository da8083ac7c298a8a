import { useState } from "react";
import { CodeArea, Field } from "../../../ui/field.tsx";
import { pretty, readObject } from "../../../ui/json.rules.ts";
import { SchemaField } from "../../../ui/schema-field.tsx";
import {
  type ReadFields,
  readFields,
  schemaFields,
  type Typed,
  typedFrom,
  withUnshown,
} from "../../../ui/schema-form.rules.ts";
import type { Schema } from "../../../ui/schema-text.rules.ts";

/** The input of an agent as it is entered: a form of its schema, or JSON if the schema has no fields. */
export function useAgentInput(schema: Schema, given?: Record<string, unknown>) {
  const [initial] = useState(given);
  const fields = schemaFields(schema);
  const isForm = fields.length > 0;
  const [typed, setTyped] = useState<Typed>(() => (initial ? typedFrom(fields, initial) : {}));
  const [json, setJson] = useState(() => pretty(initial ?? {}));
  const [faults, setFaults] = useState<Record<string, string>>({});
  return {
    fields,
    isForm,
    typed,
    setTyped,
    json,
    setJson,
    faults,
    /** Names under which the API reports errors. */
    names: isForm ? fields.map(({ name }) => `input.${name}`) : ["input"],
    /** The input to begin with. */
    initial,
    /** `initial` itself if nothing changed. Undefined: the input has faults, which are shown from now on. */
    read(): Record<string, unknown> | undefined {
      const { values, faults: found } = isForm ? readFields(fields, typed, initial) : readWhole(json);
      setFaults(found);
      if (Object.keys(found).length > 0) return undefined;
      if (!initial) return values;
      if (isForm) return withUnshown(schema, values, initial);
      return json === pretty(initial) ? initial : values;
    },
  };
}

export type EnteredInput = ReturnType<typeof useAgentInput>;

interface AgentInputProps {
  input: EnteredInput;
  /** Of the last attempt, by names such as `input.topic`. */
  errors: Readonly<Record<string, string>>;
}

export function AgentInput({ input, errors }: AgentInputProps) {
  const { fields, isForm, typed, setTyped, json, setJson, faults } = input;
  if (!isForm) {
    return (
      <Field label="Input" hint="JSON object. This agent accepts any input." error={faults.input ?? errors.input}>
        {(control) => <CodeArea {...control} rows={4} value={json} onChange={(event) => setJson(event.target.value)} />}
      </Field>
    );
  }
  return fields.map((field) => (
    <SchemaField
      key={field.name}
      field={field}
      value={typed[field.name] ?? field.initial}
      error={faults[field.name] ?? errors[`input.${field.name}`]}
      onValue={(value) => setTyped({ ...typed, [field.name]: value })}
    />
  ));
}

function readWhole(text: string): ReadFields {
  const read = readObject(text.trim() === "" ? "{}" : text);
  return "fault" in read ? { values: {}, faults: { input: read.fault } } : { values: read.value, faults: {} };
}
