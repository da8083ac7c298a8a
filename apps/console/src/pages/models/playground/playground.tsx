import type { ModelCard } from "@gantry/sdk";
import { useState } from "react";
import { Empty } from "../../../ui/notice.tsx";
import { Panel } from "../../../ui/page.tsx";
import { type FormValues, inputOf, type Problems, problemsIn, problemsOf } from "./form-values.rules.ts";
import type { FormField } from "./input-form.rules.ts";
import { PlaygroundForm } from "./playground-form.tsx";
import { RunCard } from "./run-card.tsx";
import type { Run, useRuns } from "./use-runs.ts";

interface PlaygroundProps {
  card: ModelCard;
  fields: readonly FormField[];
  values: FormValues;
  onValues(values: FormValues): void;
  runs: ReturnType<typeof useRuns>;
}

/** The form at the left, the newest run beside it, and below them the earlier ones of this visit, to compare. */
export function Playground({ card, fields, values, onValues, runs: { runs, start, cancel } }: PlaygroundProps) {
  const [problems, setProblems] = useState<Problems>({});
  const [newest, ...earlier] = runs;
  const change = (changed: FormValues) => {
    setProblems({});
    onValues(changed);
  };
  const run = () => {
    const wrong = problemsOf(fields, values);
    setProblems(wrong);
    if (Object.keys(wrong).length > 0) return;
    void start(values, inputOf(fields, values), (error) => {
      const told = problemsIn(error, fields);
      if (told) setProblems(told);
      return told !== undefined;
    });
  };
  const show = (one: Run) => (
    <RunCard key={one.key} run={one} onCancel={() => void cancel(one)} onReuse={() => change(one.values)} />
  );
  return (
    <div className="flex flex-col gap-5">
      <div className="grid items-start gap-5 lg:grid-cols-2">
        <PlaygroundForm card={card} fields={fields} values={values} problems={problems} onValues={change} onRun={run} />
        {newest ? (
          show(newest)
        ) : (
          <Panel title="Output">
            <Empty title="Nothing has run yet">What the model gives is shown here. Ctrl and Enter run it too.</Empty>
          </Panel>
        )}
      </div>
      {earlier.length > 0 && (
        <section className="flex flex-col gap-3" aria-labelledby="earlier-runs">
          <h2 id="earlier-runs" className="font-semibold">
            Earlier in this visit
          </h2>
          <div className="grid items-start gap-5 lg:grid-cols-2">{earlier.map(show)}</div>
        </section>
      )}
    </div>
  );
}
