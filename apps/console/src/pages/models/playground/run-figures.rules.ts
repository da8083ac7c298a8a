import type { PredictionSummary } from "@gantry/sdk";
import { count, money, seconds } from "../../../ui/format.ts";

export interface TextTimes {
  startedAt: number;
  firstTextAt?: number | undefined;
  endedAt?: number | undefined;
}

type Figures = Pick<
  PredictionSummary,
  "price" | "inference_time" | "input_tokens" | "output_tokens" | "cached_tokens" | "cache_write_tokens"
>;

/** For example ["$0.03", "1.2 s", "5 input tokens"]. Costs are null until the prediction ends. */
export function figuresOf(record: Figures, times?: TextTimes): string[] {
  const { price, inference_time, input_tokens, output_tokens, cached_tokens, cache_write_tokens } = record;
  const speed = times && tokensPerSecond(output_tokens, times);
  return [
    ...(price === null ? [] : [price === 0 ? "Free" : `Cost ${money(price)}`]),
    ...(inference_time === null ? ["Never started"] : [`Duration ${seconds(inference_time)}`]),
    ...(times?.firstTextAt === undefined
      ? []
      : [`First token ${seconds((times.firstTextAt - times.startedAt) / 1000)}`]),
    ...(speed === undefined ? [] : [`${speed} tokens/s`]),
    ...(input_tokens === null ? [] : [`${count(input_tokens)} input tokens`]),
    ...(cached_tokens ? [`${count(cached_tokens)} cached`] : []),
    ...(cache_write_tokens === 0 ? [] : [`${count(cache_write_tokens)} written to cache`]),
    ...(output_tokens === null ? [] : [`${count(output_tokens)} output tokens`]),
  ];
}

/** A stream this short says nothing about the speed. */
const shortestMs = 200;

/** From the first token to the end. */
export function tokensPerSecond(tokens: number | null, { firstTextAt, endedAt }: TextTimes): string | undefined {
  if (tokens === null || firstTextAt === undefined || endedAt === undefined) return undefined;
  const ms = endedAt - firstTextAt;
  if (ms < shortestMs || tokens < 2) return undefined;
  const speed = (tokens * 1000) / ms;
  return speed < 10 ? speed.toFixed(1) : count(Math.round(speed));
}
