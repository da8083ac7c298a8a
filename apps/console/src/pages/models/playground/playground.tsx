import type { ModelCard } from "@gantry/sdk";
import { useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { Empty, Failure, Notice } from "../../../ui/notice.tsx";
import { Panel } from "../../../ui/page.tsx";
import { inputOf, type Problems, problemsIn, problemsOf } from "./form-values.rules.ts";
import type { FormField } from "./input-form.rules.ts";
import { PlaygroundForm } from "./playground-form.tsx";
import { RunCard } from "./run-card.tsx";
import type { ShownForm } from "./use-form-values.ts";
import { useReusedInput } from "./use-reused-input.ts";
import type { ShownRun } from "./use-run.ts";

interface PlaygroundProps {
  card: ModelCard;
  fields: readonly FormField[];
  form: ShownForm;
  shown: ShownRun;
  /** Takes the kept input of a chat, and returns whether it was one. */
  onConversation(input: Readonly<Record<string, unknown>>): boolean;
}

export function Playground({ card, fields, form, shown, onConversation }: PlaygroundProps) {
  const { run, start, cancel, retry } = shown;
  const [problems, setProblems] = useState<Problems>({});
  const reused = useReusedInput(fields, form, onConversation);
  const submit = () => {
    const found = problemsOf(fields, form.values);
    setProblems(found);
    if (Object.keys(found).length > 0) return;
    form.save();
    reused.dismiss();
    void start(inputOf(fields, form.values), (error) => {
      const refused = problemsIn(error, fields);
      if (refused) setProblems(refused);
      return refused !== undefined;
    });
  };
  return (
    <div className="flex flex-col gap-4">
      {reused.note !== undefined && (
        <Notice tone="warn">
          <span className="flex flex-wrap items-center justify-between gap-2">
            {reused.note}
            <Button kind="quiet" onClick={reused.dismiss}>
              Dismiss
            </Button>
          </span>
        </Notice>
      )}
      {reused.error !== undefined && <Failure error={reused.error} />}
      <div className="grid items-start gap-5 lg:grid-cols-2">
        <PlaygroundForm
          card={card}
          fields={fields}
          values={form.values}
          problems={problems}
          onValues={(values, names) => {
            setProblems((before) => withoutNames(before, names));
            form.set(values);
          }}
          onLeave={() => form.save()}
          onRun={submit}
        />
        <div className="min-w-0 lg:sticky lg:top-4">
          {run ? (
            <RunCard run={run} onCancel={() => void cancel()} onRetry={retry} />
          ) : (
            <Panel title="Output">
              <Empty title="No output yet">Results appear here. Press Ctrl+Enter to run.</Empty>
            </Panel>
          )}
        </div>
      </div>
    </div>
  );
}

/** A changed field loses its problem; the others keep theirs. */
function withoutNames(problems: Problems, names: readonly string[] | undefined): Problems {
  if (names === undefined) return {};
  const left = Object.entries(problems).filter(([name]) => !names.includes(name));
  return left.length === Object.keys(problems).length ? problems : Object.fromEntries(left);
}
