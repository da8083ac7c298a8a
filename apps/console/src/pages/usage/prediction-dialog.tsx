import { GantryError, type UsageRecord } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { StatusBadge } from "../../ui/badge.tsx";
import { Copyable } from "../../ui/copyable.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Facts } from "../../ui/facts.tsx";
import { money, seconds, time } from "../../ui/format.ts";
import { Empty, Loaded, Notice } from "../../ui/notice.tsx";
import { OutputView } from "../models/output/output-view.tsx";
import { resultQuery, usageOfQuery } from "./prediction-queries.ts";
import { cacheUse, doorOf, modeLabels, tokensOf } from "./usage-table.tsx";

interface PredictionDialogProps {
  id: string;
  /** About when the prediction ended, if known. */
  at: string | undefined;
  /** The usage record, if the page has loaded it. */
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
            <Empty title="Prediction not found in your usage">
              The prediction may still be running, or belong to another user.
            </Empty>
          )
        }
      </Loaded>
    </Dialog>
  );
}

function Prediction({ row }: { row: UsageRecord }) {
  const { request_id, inference_time, price, status, route, backend } = row;
  const tokens = tokensOf(row);
  const door = doorOf(row);
  return (
    <div className="flex flex-col gap-4">
      <Facts
        facts={[
          ["ID", <Copyable key="id" text={request_id} />],
          ["Status", <StatusBadge key="status" status={status} />],
          ["Mode", modeLabels[route]],
          ...(door === undefined ? [] : [["Protocol", door] as const]),
          ...(backend === null ? [] : [["Backend", backend] as const]),
          ["Duration", inference_time === null ? "Never started" : seconds(inference_time)],
          ...(tokens === undefined ? [] : [["Tokens", [tokens, ...cacheUse(row)].join(", ")] as const]),
          ["Cost", money(price)],
        ]}
      />
      {request_id.startsWith("run_") ? <AgentRun runId={request_id} /> : <StoredResult row={row} />}
      <ModelLink modelName={row.model_name} />
    </div>
  );
}

/** Paid agent runs also appear in the usage. */
function AgentRun({ runId }: { runId: string }) {
  return (
    <p>
      <Link to="/runs/$runId" params={{ runId }} className="text-accent hover:underline">
        View run
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
        Open model
      </Link>
    </p>
  );
}

function StoredResult({ row: { model_name, request_id } }: { row: UsageRecord }) {
  const result = useQuery(resultQuery(model_name, request_id));
  const { error } = result;
  if (error instanceof GantryError && error.predictionId === undefined && error.status === 404) {
    return <Notice tone="plain">The result is no longer stored, or the model was deleted.</Notice>;
  }
  return (
    <Loaded query={result} isFinal>
      {({ output_data, files }) => <OutputView output={output_data} files={files} />}
    </Loaded>
  );
}
