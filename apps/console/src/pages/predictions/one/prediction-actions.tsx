import type { PredictionRecord } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { FlaskConical } from "lucide-react";
import { buttonClass } from "../../../ui/button.tsx";
import { CopyButton } from "../../../ui/code.tsx";
import { modelQuery } from "../../models/model-query.ts";
import { isLive, modelParamsOf } from "../prediction-summary.rules.ts";
import { CancelPrediction } from "./cancel-prediction.tsx";
import { DeleteContent } from "./delete-content.tsx";
import { curlOfPrediction } from "./kept-code.rules.ts";
import { RunStepLink } from "./run-step-link.tsx";

export function PredictionActions({ prediction }: { prediction: PredictionRecord }) {
  const { id, model_name, input, input_state, run_id, mode } = prediction;
  const params = modelParamsOf(model_name);
  const model = useQuery({ ...modelQuery(model_name), enabled: params !== undefined && mode !== "agent" });
  const curl = model.data && curlOfPrediction(model.data, prediction);
  const hasContent = input_state !== "deleted" && input_state !== "expired";
  return (
    <>
      {isLive(prediction) && mode !== "agent" && <CancelPrediction id={id} model={model_name} />}
      {!isLive(prediction) && hasContent && <DeleteContent prediction={prediction} />}
      {curl !== undefined && <CopyButton text={curl} label="Copy as curl" />}
      {run_id !== null && <RunStepLink runId={run_id} predictionId={id} />}
      {params && model.data && input !== null && (
        <Link to="/models/$owner/$name" params={params} search={{ from: id }} className={buttonClass("primary")}>
          <FlaskConical size={14} aria-hidden /> Open in playground
        </Link>
      )}
    </>
  );
}
