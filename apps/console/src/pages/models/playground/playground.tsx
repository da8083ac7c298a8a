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

export function Playground({ card, fields, values, onValues, runs: { runs, start, cancel } }: PlaygroundProps) {
  const [problems, setProblems] = useState<Problems>({});
  const [newest, ...earlier] = runs;
  const change = (changed: FormValues) => {
    setProblems({});
    onValues(changed);
  };
  const run = () => {
    const found = problemsOf(fields, values);
    setProblems(found);
    if (Object.keys(found).length > 0) return;
    void start(values, inputOf(fields, values), (error) => {
      const refused = problemsIn(error, fields);
      if (refused) setProblems(refused);
      return refused !== undefined;
    });
  };
  const show = (shown: Run) => (
    <RunCard key={shown.key} run={shown} onCancel={() => void cancel(shown)} onReuse={() => change(shown.values)} />
  );
  return (
    <div className="flex flex-col gap-5">
      <div className="grid items-start gap-5 lg:grid-cols-2">
        <PlaygroundForm card={card} fields={fields} values={values} problems={problems} onValues={change} onRun={run} />
        {newest ? (
          show(newest)
        ) : (
          <Panel title="Output">
            <Empty title="No output yet">Results appear here. Press Ctrl+Enter to run.</Empty>
          </Panel>
        )}
      </div>
      {earlier.length > 0 && (
        <section className="flex flex-col gap-3" aria-labelledby="earlier-runs">
          <h2 id="earlier-runs" className="font-semibold">
            History
          </h2>
          <div className="grid items-start gap-5 lg:grid-cols-2">{earlier.map(show)}</div>
        </section>
      )}
    </div>
  );
}
