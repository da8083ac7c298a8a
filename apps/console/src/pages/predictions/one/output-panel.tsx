import type { FileLink, PredictionRecord } from "@gantry/sdk";
import { LoaderCircle } from "lucide-react";
import { CodeBlock } from "../../../ui/code.tsx";
import { pretty } from "../../../ui/json.rules.ts";
import { Markdown } from "../../../ui/markdown/markdown.tsx";
import { Failure } from "../../../ui/notice.tsx";
import { Panel } from "../../../ui/page.tsx";
import { OutputView } from "../../models/output/output-view.tsx";
import { isLive } from "../prediction-summary.rules.ts";
import { ByView } from "./by-view.tsx";
import { missingOutput } from "./content-states.rules.ts";
import { errorOf } from "./prediction-error.rules.ts";

export function OutputPanel({ prediction }: { prediction: PredictionRecord }) {
  const { output, text } = prediction;
  const error = errorOf(prediction);
  const files = prediction.files as Readonly<Record<string, FileLink>>;
  return (
    <Panel title="Output">
      <div className="flex flex-col gap-4">
        {error && <Failure error={error} />}
        {text && (
          <section>
            <h3 className="mb-1 text-muted text-xs">Text before it ended</h3>
            <Markdown text={text} hasTools />
          </section>
        )}
        {output === null ? (
          !error && !text && <Missing prediction={prediction} />
        ) : (
          <ByView
            form={<OutputView output={output} files={files} />}
            json={<CodeBlock label="Output" language="json" text={pretty(output)} />}
          />
        )}
      </div>
    </Panel>
  );
}

function Missing({ prediction }: { prediction: PredictionRecord }) {
  return (
    <p className="flex items-center gap-2 text-muted" aria-live="polite">
      {isLive(prediction) && <LoaderCircle size={16} className="animate-spin motion-reduce:animate-none" aria-hidden />}
      {missingOutput(prediction)}
    </p>
  );
}
