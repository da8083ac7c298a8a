import { GantryError, type UsageRecord } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { StatusBadge } from "../../ui/badge.tsx";
import { Copied } from "../../ui/copied.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Facts } from "../../ui/facts.tsx";
import { money, seconds, time } from "../../ui/format.ts";
import { Empty, Loaded, Notice } from "../../ui/notice.tsx";
import { OutputView } from "../models/output/output-view.tsx";
import { resultQuery, usageOfQuery } from "./prediction-queries.ts";
import { cacheUse, routeWords, tokensOf } from "./usage-table.tsx";

interface PredictionDialogProps {
  id: string;
  /** A moment that is known of it. */
  at: string | undefined;
  /** Its row, where that is on the page already. */
  row: UsageRecord | undefined;
  onClose(): void;
}

export function PredictionDialog({ id, at, row, onClose }: PredictionDialogProps) {
  const usage = useQuery({ ...usageOfQuery(id, at), ...(row && { initialData: row }) });
  const { data } = usage;
  return (
    <Dialog
      open
      onClose={onClose}
      wide
      title={data?.model_name ?? "Prediction"}
      description={data ? time(data.created_at) : id}
    >
      <Loaded query={usage}>
        {(found) =>
          found ? (
            <Prediction row={found} />
          ) : (
            <Empty title="It is not in your usage">It has not ended yet, or it is somebody else's.</Empty>
          )
        }
      </Loaded>
    </Dialog>
  );
}

function Prediction({ row }: { row: UsageRecord }) {
  const { request_id, inference_time, price, status, route } = row;
  const tokens = tokensOf(row);
  return (
    <div className="flex flex-col gap-4">
      <Facts
        facts={[
          ["Id", <Copied key="id" text={request_id} />],
          ["Status", <StatusBadge key="status" status={status} />],
          ["Way", routeWords[route]],
          ["Took", inference_time === null ? "It never began" : seconds(inference_time)],
          ...(tokens === undefined ? [] : [["Tokens", [tokens, ...cacheUse(row)].join(", ")] as const]),
          ["Cost", money(price)],
        ]}
      />
      {request_id.startsWith("run_") ? <AgentRun runId={request_id} /> : <StoredResult row={row} />}
      <ModelLink modelName={row.model_name} />
    </div>
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
  const result = useQuery(resultQuery(model_name, request_id));
  const { error } = result;
  if (error instanceof GantryError && error.predictionId === undefined && error.status === 404) {
    return <Notice tone="plain">The result is not kept any more, or the model is gone.</Notice>;
  }
  return (
    <Loaded query={result} isFinal>
      {({ output_data, files }) => <OutputView output={output_data} files={files} />}
    </Loaded>
  );
}
