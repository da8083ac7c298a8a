import type { ModelCard } from "@gantry/sdk";
import { Play } from "lucide-react";
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { Panel } from "../../../ui/page.tsx";
import { ViewSwitch } from "../../../ui/view-switch.tsx";
import { defaultMaxTokens, estimateText } from "../price.rules.ts";
import { type FormValues, initialValues, inputOf, type Problems } from "./form-values.rules.ts";
import { InputField } from "./input-field.tsx";
import { type FormField, folded, mostFilesOf } from "./input-form.rules.ts";
import { InputJson } from "./input-json.tsx";

interface PlaygroundFormProps {
  card: ModelCard;
  fields: readonly FormField[];
  values: FormValues;
  problems: Problems;
  /** `names`: the changed fields; undefined for all. */
  onValues(values: FormValues, names?: readonly string[]): void;
  /** The reader leaves a field. */
  onLeave(): void;
  onRun(): void;
}

export function PlaygroundForm({ card, fields, values, problems, onValues, onLeave, onRun }: PlaygroundFormProps) {
  const [view, setView] = useState<"form" | "json">("form");
  const [jsonFault, setJsonFault] = useState<string>();
  const { shown, more } = folded(fields);
  const [isUnfolded, setUnfolded] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const hasHidden = more.some(({ name }) => problems[name] !== undefined);
  useEffect(() => {
    if (Object.keys(problems).length === 0) return;
    if (hasHidden) setUnfolded(true);
    // After the folded fields are rendered.
    requestAnimationFrame(() => form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
  }, [problems, hasHidden]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (view === "form" || jsonFault === undefined) onRun();
  };
  const submitByKey = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) form.current?.requestSubmit();
  };
  const show = (field: FormField) => (
    <InputField
      key={field.name}
      field={field}
      value={values[field.name] ?? ""}
      problem={problems[field.name]}
      onValue={(value) => onValues({ ...values, [field.name]: value }, [field.name])}
    />
  );
  return (
    <Panel
      title="Input"
      actions={
        <span className="flex items-center gap-1">
          <Button kind="quiet" onClick={() => onValues(initialValues(fields))}>
            Reset
          </Button>
          <ViewSwitch label="View of the input" options={views} value={view} onValue={setView} />
        </span>
      }
    >
      {/* Errors appear at the fields, not as browser pop-ups. */}
      <form
        ref={form}
        noValidate
        className="flex flex-col gap-4"
        onSubmit={submit}
        onKeyDown={submitByKey}
        onBlur={onLeave}
      >
        {view === "json" ? (
          <InputJson
            fields={fields}
            values={values}
            problem={jsonProblem(problems)}
            onValues={onValues}
            onFault={setJsonFault}
          />
        ) : (
          <>
            {fields.length === 0 && <p className="text-muted">This model has no inputs.</p>}
            {shown.map(show)}
            {more.length > 0 && (
              <details open={isUnfolded} onToggle={(event) => setUnfolded(event.currentTarget.open)}>
                <summary className="py-1 font-medium text-muted hover:text-ink">More ({more.length})</summary>
                <div className="mt-3 flex flex-col gap-4">{more.map(show)}</div>
              </details>
            )}
          </>
        )}
        <div
          data-sticky-bar
          className="sticky bottom-0 z-10 -mx-4 -mb-4 flex flex-wrap items-center gap-3 rounded-b-lg border-line border-t bg-panel px-4 py-3"
        >
          <Button kind="primary" type="submit" icon={<Play size={14} />} disabled={card.capacity === 0}>
            Run
          </Button>
          <span className="min-w-0 flex-1 text-muted text-xs">
            {card.capacity === 0 ? "Inactive: the capacity is 0." : estimateOf(card, fields, values)}
          </span>
        </div>
      </form>
    </Panel>
  );
}

const views = [
  { value: "form", label: "Form" },
  { value: "json", label: "JSON" },
] as const;

const jsonProblem = (problems: Problems): string | undefined =>
  Object.entries(problems)
    .map(([name, problem]) => `${name}: ${problem}`)
    .join("; ") || undefined;

function estimateOf(card: ModelCard, fields: readonly FormField[], values: FormValues): string {
  const input = inputOf(fields, values);
  const texts = Object.values(input).filter((value) => typeof value === "string");
  const wanted = Number(values.max_tokens);
  return estimateText(card.pricing, {
    characters: texts.reduce((sum, text) => sum + text.length, 0),
    maxTokens: wanted > 0 ? wanted : defaultMaxTokens,
    // Each output file counts; any other output counts once.
    outputs: Math.max(
      1,
      Object.values(card.output.properties).reduce((sum, field) => sum + mostFilesOf(field), 0),
    ),
    timeoutSeconds: card.timeout_seconds,
  });
}
