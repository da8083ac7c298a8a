import { GantryError, type UsageRecord } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { StatusBadge } from "../../ui/badge.tsx";
import { CopyButton } from "../../ui/code.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { money, seconds, time } from "../../ui/format.ts";
import { Failure, Loading, Notice } from "../../ui/notice.tsx";
import { Facts } from "../models/details/facts.tsx";
import { OutputView } from "../models/output/output-view.tsx";
import { routeWords, tokensOf } from "./usage-table.tsx";

export function PredictionDialog({ row, onClose }: { row: UsageRecord; onClose(): void }) {
  const { request_id, created_at, inference_time, price, status, route, cached_tokens } = row;
  const tokens = tokensOf(row);
  return (
    <Dialog open onClose={onClose} wide title={row.model_name} description={time(created_at)}>
      <div className="flex flex-col gap-4">
        <Facts
          facts={[
            [
              "Id",
              <span key="id" className="flex flex-wrap items-center gap-2">
                <code className="break-all">{request_id}</code>
                <CopyButton text={request_id} />
              </span>,
            ],
            ["Status", <StatusBadge key="status" status={status} />],
            ["Way", routeWords[route]],
            ["Took", inference_time === null ? "It never began" : seconds(inference_time)],
            ...(tokens === undefined
              ? []
              : [["Tokens", cached_tokens ? `${tokens}, ${cached_tokens} of the input cached` : tokens] as const]),
            ["Cost", money(price)],
          ]}
        />
        {request_id.startsWith("run_") ? <AgentRun runId={request_id} /> : <StoredResult row={row} />}
        <ModelLink modelName={row.model_name} />
      </div>
    </Dialog>
  );
}

/** The sale of an agent's run is in the usage as well, and has a page of its own. */
function AgentRun({ runId }: { runId: string }) {
  return (
    <p>
      <Link to="/runs/$runId" params={{ runId }} className="text-accent hover:underline">
        What the run did
      </Link>
    </p>
  );
}

function ModelLink({ modelName }: { modelName: string }) {
  const [owner = "", name = "", ...more] = modelName.split("/");
  if (name === "" || more.length > 0) return null;
  return (
    <p>
      <Link to="/models/$owner/$name" params={{ owner, name }} className="text-accent hover:underline">
        Run this model again
      </Link>
    </p>
  );
}

function StoredResult({ row: { model_name, request_id } }: { row: UsageRecord }) {
  const result = useQuery({
    queryKey: ["result", request_id],
    // It has ended: this waits for nothing, and tells a failure as one.
    queryFn: ({ signal }) => api.waitFor(model_name, request_id, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (result.isPending) return <Loading />;
  if (!result.isError) return <OutputView output={result.data.output_data} files={result.data.files} />;
  const { error } = result;
  if (error instanceof GantryError && error.predictionId === undefined && error.status === 404) {
    return <Notice tone="plain">The result is not kept any more, or the model is gone.</Notice>;
  }
  return <Failure error={error} />;
}
