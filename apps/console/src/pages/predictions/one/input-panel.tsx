import type { PredictionRecord } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { CodeBlock } from "../../../ui/code.tsx";
import { pretty } from "../../../ui/json.rules.ts";
import { Notice } from "../../../ui/notice.tsx";
import { Panel } from "../../../ui/page.tsx";
import { modelQuery } from "../../models/model-query.ts";
import { ByView } from "./by-view.tsx";
import { missingInput } from "./content-states.rules.ts";
import { ContentView } from "./content-view.tsx";
import { InputValues } from "./input-values.tsx";

export function InputPanel({ prediction }: { prediction: PredictionRecord }) {
  const { input, input_truncated, model_name } = prediction;
  const schema = useQuery({ ...modelQuery(model_name), enabled: input !== null }).data?.input;
  const reason = missingInput(prediction);
  return (
    <Panel title="Input" actions={input !== null && <ContentView />}>
      {input === null ? (
        <p className="text-muted">{reason}</p>
      ) : (
        <div className="flex flex-col gap-4">
          {input_truncated && (
            <Notice tone="plain">Long values were cut. At most 256 KB of an input are stored.</Notice>
          )}
          <ByView
            form={<InputValues input={input} schema={schema} />}
            json={<CodeBlock label="Input" language="json" text={pretty(input)} />}
          />
        </div>
      )}
    </Panel>
  );
}
