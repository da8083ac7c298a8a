import type { UsageRecord } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { CopyButton } from "../../../ui/code.tsx";
import { count, money, seconds } from "../../../ui/format.ts";
import { usageOfQuery } from "../../usage/prediction-queries.ts";

/** What a run took and cost: its row in the usage, which is written with its end. */
export function RunFigures({ predictionId }: { predictionId: string }) {
  const { data: row } = useQuery(usageOfQuery(predictionId));
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-muted text-xs">
      {row && figuresOf(row).map((figure) => <span key={figure}>{figure}</span>)}
      <CopyButton text={predictionId} label="Copy id" />
    </div>
  );
}

function figuresOf(row: UsageRecord): string[] {
  const { price, inference_time, input_tokens, output_tokens, cached_tokens, cache_write_tokens } = row;
  return [
    price === 0 ? "Cost nothing" : `Cost ${money(price)}`,
    ...(inference_time === null ? ["Never began"] : [`Ran ${seconds(inference_time)}`]),
    ...(input_tokens === null ? [] : [`${count(input_tokens)} tokens in`]),
    ...(cached_tokens === null ? [] : [`${count(cached_tokens)} of them cached`]),
    ...(cache_write_tokens === 0 ? [] : [`${count(cache_write_tokens)} of them written to the cache`]),
    ...(output_tokens === null ? [] : [`${count(output_tokens)} tokens out`]),
  ];
}
