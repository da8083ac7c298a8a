import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CopyButton } from "../../../ui/code.tsx";
import { linkClass } from "../../../ui/link.tsx";
import { predictionQuery } from "../../predictions/prediction-queries.ts";
import { figuresOf, type TextTimes } from "./run-figures.rules.ts";

/** From the record of the prediction. */
export function RunFigures({ predictionId, times }: { predictionId: string; times?: TextTimes | undefined }) {
  const { data: record } = useQuery({ ...predictionQuery(predictionId), throwOnError: false });
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-muted text-xs tabular-nums">
      {record && figuresOf(record, times).map((figure) => <span key={figure}>{figure}</span>)}
      <Link to="/predictions/$id" params={{ id: predictionId }} className={linkClass}>
        Details
      </Link>
      <CopyButton text={predictionId} label="Copy ID" />
    </div>
  );
}
