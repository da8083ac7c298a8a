import type { UsageRecord } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { CopyButton } from "../../../ui/code.tsx";
import { count, money, seconds } from "../../../ui/format.ts";
import { usageOfQuery } from "../../usage/prediction-queries.ts";

/** From the usage record, which is written when the run ends. */
export function RunFigures({ predictionId }: { predictionId: string }) {
  const { data: row } = useQuery(usageOfQuery(predictionId));
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-muted text-xs">
      {row && figuresOf(row).map((figure) => <span key={figure}>{figure}</span>)}
      <CopyButton text={predictionId} label="Copy ID" />
    </div>
  );
}

function figuresOf(row: UsageRecord): string[] {
  const { price, inference_time, input_tokens, output_tokens, cached_tokens, cache_write_tokens } = row;
  return [
    price === 0 ? "Free" : `Cost ${money(price)}`,
    ...(inference_time === null ? ["Never started"] : [`Duration ${seconds(inference_time)}`]),
    ...(input_tokens === null ? [] : [`${count(input_tokens)} input tokens`]),
    ...(cached_tokens === null ? [] : [`${count(cached_tokens)} cached`]),
    ...(cache_write_tokens === 0 ? [] : [`${count(cache_write_tokens)} written to cache`]),
    ...(output_tokens === null ? [] : [`${count(output_tokens)} output tokens`]),
  ];
}
