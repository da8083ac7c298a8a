import type { TraceStep } from "@gantry/sdk";
import { count, money, seconds } from "../../../ui/format.ts";

/** The figures of a step that are known, as names and texts. */
export function stepFacts(step: TraceStep): [name: string, value: string][] {
  const { duration_ms, queued_ms, first_token_ms, usage, cost } = step;
  const facts: [string, string | undefined][] = [
    ["Duration", duration_ms === null ? undefined : seconds(duration_ms / 1000)],
    ["In queue", queued_ms ? seconds(queued_ms / 1000) : undefined],
    ["First token", first_token_ms === undefined ? undefined : `after ${seconds(first_token_ms / 1000)}`],
    ["Speed", speedOf(step)],
    ["Tokens", usage && tokensText(usage)],
    ["Cost", cost === undefined ? undefined : money(cost)],
  ];
  return facts.filter((fact): fact is [string, string] => fact[1] !== undefined);
}

function tokensText(usage: NonNullable<TraceStep["usage"]>): string {
  const { input_tokens, output_tokens, cached_tokens, cache_write_tokens } = usage;
  const cached = [
    ...(cached_tokens > 0 ? [`${count(cached_tokens)} cached`] : []),
    ...(cache_write_tokens > 0 ? [`${count(cache_write_tokens)} written to cache`] : []),
  ];
  const base = `${count(input_tokens)} in, ${count(output_tokens)} out`;
  return cached.length === 0 ? base : `${base} (${cached.join(", ")})`;
}

/** Tokens a second, from the first token on. */
function speedOf({ kind, duration_ms, first_token_ms, usage }: TraceStep): string | undefined {
  if (kind !== "model" || duration_ms === null || first_token_ms === undefined || !usage) return undefined;
  const writing = duration_ms - first_token_ms;
  // Shorter answers arrive in one piece: their speed says nothing.
  if (writing < 100 || usage.output_tokens < 5) return undefined;
  return `${count(Math.round((1000 * usage.output_tokens) / writing))} tokens/s`;
}
