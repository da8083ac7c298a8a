import type { PredictionRecord } from "@gantry/sdk";

type Known = Pick<PredictionRecord, "input" | "input_state" | "run_id" | "agent" | "status">;

/** Why the input is missing, in one sentence. Undefined if it is there. */
export function missingInput({ input, input_state, run_id }: Known): string | undefined {
  if (input !== null) return undefined;
  if (run_id !== null && input_state === "not_kept") {
    return "This model call belongs to an agent run. The run's trace shows its messages.";
  }
  return inputReasons[input_state];
}

const inputReasons: Readonly<Record<PredictionRecord["input_state"], string>> = {
  kept: "The input was empty.",
  pending: "The input appears when the prediction ends.",
  not_kept: "The input was not stored: the request, its key, the model or this server opts out.",
  deleted: "You deleted the content of this prediction.",
  expired: "The content has expired. Inputs and results are deleted after the retention period of this server.",
};

/** Why the output is missing, in one sentence. */
export function missingOutput({ status, input_state, run_id }: Known): string {
  if (status === "waiting") return "Waiting for a free slot of the model.";
  if (status === "running") return "The model is running. The output appears here.";
  if (input_state === "deleted" || input_state === "expired") return inputReasons[input_state];
  if (run_id !== null) return "The run's trace shows the answer.";
  if (status === "cancelled") return "Cancelled before the model finished.";
  return status === "failed" ? "Failed predictions have no output." : "The result is not stored.";
}
