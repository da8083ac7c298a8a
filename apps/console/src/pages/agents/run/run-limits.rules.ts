/** What a run may take, as it is written in the form; empty: the service's own limit. */
export interface WrittenLimits {
  maxCost: string;
  minutes: string;
  steps: string;
}

export const noLimits: WrittenLimits = { maxCost: "", minutes: "", steps: "" };

export interface RunLimits {
  max_cost?: number;
  timeout_seconds?: number;
  max_steps?: number;
}

/** Undefined: something in it is no number. */
export function limitsOf({ maxCost, minutes, steps }: WrittenLimits): RunLimits | undefined {
  const [cost, time, most] = [maxCost, minutes, steps].map((text) => (text.trim() === "" ? undefined : Number(text)));
  if ([cost, time, most].some((value) => value !== undefined && !Number.isFinite(value))) return undefined;
  return {
    ...(cost !== undefined && { max_cost: cost }),
    ...(time !== undefined && { timeout_seconds: time * 60 }),
    ...(most !== undefined && { max_steps: most }),
  };
}
