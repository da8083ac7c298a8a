import type { PredictionSummary } from "@gantry/sdk";
import { Link } from "@tanstack/react-router";
import { Button } from "../../../ui/button.tsx";
import { Moment } from "../../../ui/moment.tsx";
import { Status } from "../../../ui/status.tsx";
import { answerOf, titleOf } from "../../predictions/prediction-summary.rules.ts";
import { Thumbnail } from "../../predictions/thumbnail.tsx";
import { fileNameIn } from "../output/media.rules.ts";
import { costOf } from "./history-row.rules.ts";

interface HistoryRowProps {
  prediction: PredictionSummary;
  onReuse(): void;
}

export function HistoryRow({ prediction, onReuse }: HistoryRowProps) {
  const { id, status, status_code, created_at } = prediction;
  const answer = answerOf(prediction);
  const cost = costOf(prediction);
  return (
    <li className="relative flex flex-wrap items-center gap-x-3 gap-y-1 border-line border-b px-4 py-2.5 last:border-b-0 hover:bg-sunken/60">
      <Thumbnail large file={fileIn(prediction)} />
      <div className="min-w-0 grow basis-48">
        {/* The link covers the whole row. */}
        <Link
          to="/predictions/$id"
          params={{ id }}
          className="block truncate font-medium after:absolute after:inset-0 hover:underline"
        >
          {titleOf(prediction)}
        </Link>
        {answer !== undefined && <p className="truncate text-muted">{answer}</p>}
        <p className="flex flex-wrap items-center gap-x-2 text-muted text-xs tabular-nums">
          <Status status={status} code={status_code} />
          <Moment at={created_at} />
          {cost !== "" && <span>{cost}</span>}
        </p>
      </div>
      <Button kind="quiet" className="relative ml-auto" onClick={onReuse}>
        Reuse input
      </Button>
    </li>
  );
}

function fileIn({ preview: { file } }: PredictionSummary) {
  return file ? { link: file.link, name: fileNameIn(file.url), contentType: file.content_type } : undefined;
}
