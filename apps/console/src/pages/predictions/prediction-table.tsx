import type { PredictionSummary } from "@gantry/sdk";
import { money, seconds } from "../../ui/format.ts";
import { RowLink } from "../../ui/link.tsx";
import { Moment } from "../../ui/moment.tsx";
import { RunningClock } from "../../ui/running-clock.tsx";
import { Status } from "../../ui/status.tsx";
import { Table } from "../../ui/table.tsx";
import { fileNameIn } from "../models/output/media.rules.ts";
import { modeLabels } from "./prediction-labels.ts";
import { answerOf, isLive, titleOf } from "./prediction-summary.rules.ts";
import { Thumbnail } from "./thumbnail.tsx";

export function PredictionTable({ rows }: { rows: readonly PredictionSummary[] }) {
  return (
    <Table
      label="Predictions"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        { head: "Prediction", fill: true, cell: (row) => <Preview row={row} /> },
        {
          head: "Model",
          wide: true,
          cell: ({ model_name, mode }) => (
            <>
              <p className="max-w-44 truncate">{model_name}</p>
              <p className="text-muted text-xs">{modeLabels[mode]}</p>
            </>
          ),
        },
        { head: "Status", cell: ({ status, status_code }) => <Status status={status} code={status_code} /> },
        { head: "Duration", align: "right", wide: true, cell: (row) => <Duration row={row} /> },
        { head: "Cost", align: "right", wide: true, cell: ({ price }) => (price === null ? <None /> : money(price)) },
        { head: "Created", align: "right", wide: true, cell: ({ created_at }) => <Moment at={created_at} /> },
      ]}
    />
  );
}

function Preview({ row }: { row: PredictionSummary }) {
  const { id, preview, model_name, price, created_at } = row;
  const file = preview.file && {
    link: preview.file.link,
    name: fileNameIn(preview.file.url),
    contentType: preview.file.content_type,
  };
  const output = answerOf(row);
  const title = titleOf(row);
  return (
    <div className="flex min-w-0 items-center gap-3">
      <Thumbnail file={file ?? undefined} />
      <div className="w-24 min-w-0 flex-1 sm:w-44 lg:w-56 xl:w-72">
        <RowLink
          to="/predictions/$id"
          params={{ id }}
          className={`block truncate ${title === id ? "font-mono text-xs" : ""}`}
        >
          {title}
        </RowLink>
        {output !== undefined && <p className="hidden truncate text-muted text-xs md:block">{output}</p>}
        {/* Replaces the hidden columns on narrow screens. */}
        <p className="truncate text-muted text-xs md:hidden">{model_name}</p>
        <p className="truncate text-muted text-xs md:hidden">
          <Moment at={created_at} />
          {price !== null && ` · ${money(price)}`}
        </p>
      </div>
    </div>
  );
}

function Duration({ row }: { row: PredictionSummary }) {
  const { inference_time, started_at, created_at } = row;
  if (isLive(row)) return <RunningClock since={started_at ?? created_at} />;
  return inference_time === null ? <None /> : seconds(inference_time);
}

function None() {
  return <span className="text-muted">–</span>;
}
