import { CodeBlock } from "../../../ui/code.tsx";
import { pretty } from "../../../ui/json.rules.ts";
import type { Schema } from "../../../ui/schema-text.rules.ts";
import { labelOf } from "./input-labels.rules.ts";
import { KeptFiles } from "./kept-files.tsx";
import { type KeptValue, keptValue } from "./kept-input.rules.ts";
import { MessageList } from "./message-list.tsx";

interface InputValuesProps {
  input: Readonly<Record<string, unknown>>;
  /** Of the model, for the names of fields. */
  schema: Schema | undefined;
}

/** The input as the form had it. Short values share a row. */
export function InputValues({ input, schema }: InputValuesProps) {
  const fields = Object.entries(input).map(([name, value]) => ({ name, value: keptValue(value) }));
  if (fields.length === 0) return <p className="text-muted">Empty input: every field had its default value.</p>;
  return (
    <dl className="grid grid-cols-2 gap-x-4 gap-y-4 sm:grid-cols-3">
      {fields.map(({ name, value }) => (
        <div key={name} className={`min-w-0 ${isShort(name, value) ? "" : "col-span-full"}`}>
          <dt className="mb-1 text-muted text-xs">{labelOf(name, schema)}</dt>
          <dd className="min-w-0">
            <Value name={name} value={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** The prompt stands alone, however short. */
const isShort = (name: string, value: KeptValue): boolean =>
  value.kind === "value" || (value.kind === "text" && name !== "prompt" && /^.{0,24}$/.test(value.text));

function Value({ name, value }: { name: string; value: KeptValue }) {
  switch (value.kind) {
    case "text":
      return <p className="wrap-anywhere max-h-80 overflow-y-auto whitespace-pre-wrap">{value.text}</p>;
    case "value":
      return <span className="tabular-nums">{value.text}</span>;
    case "files":
      return <KeptFiles files={value.files} />;
    case "messages":
      return <MessageList messages={value.messages} />;
    case "json":
      return <CodeBlock label={name} language="json" text={pretty(value.value)} />;
  }
}
