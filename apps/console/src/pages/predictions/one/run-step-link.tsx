import { GantryError } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ListTree } from "lucide-react";
import { api } from "../../../api/client.ts";
import { buttonClass } from "../../../ui/button.tsx";

/** Leads to the step of the run that made this model call. The run of another user has no link. */
export function RunStepLink({ runId, predictionId }: { runId: string; predictionId: string }) {
  const step = useQuery({
    queryKey: ["runs", "step-of", predictionId],
    queryFn: async ({ signal }) =>
      (await api.runs.trace(runId, { signal })).steps.find(({ prediction_id }) => prediction_id === predictionId)?.id ??
      null,
    staleTime: 60_000,
  });
  if (step.error instanceof GantryError && step.error.status === 404) return null;
  return (
    <Link
      to="/runs/$runId"
      params={{ runId }}
      search={step.data ? { step: step.data } : {}}
      className={buttonClass("primary")}
    >
      <ListTree size={14} aria-hidden /> View in run
    </Link>
  );
}
