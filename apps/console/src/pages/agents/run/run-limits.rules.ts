/** Text of the form. Empty: the server's default. */
export interface EnteredLimits {
  maxCost: string;
  minutes: string;
  steps: string;
}

export const noLimits: EnteredLimits = { maxCost: "", minutes: "", steps: "" };

export interface RunLimits {
  max_cost?: number;
  timeout_seconds?: number;
  max_steps?: number;
}

/** Undefined: a value is not a number. */
export function limitsOf({ maxCost, minutes, steps }: EnteredLimits): RunLimits | undefined {
  const [cost, time, most] = [maxCost, minutes, steps].map((text) => (text.trim() === "" ? undefined : Number(text)));
  if ([cost, time, most].some((value) => value !== undefined && !Number.isFinite(value))) return undefined;
  return {
    ...(cost !== undefined && { max_cost: cost }),
    ...(time !== undefined && { timeout_seconds: time * 60 }),
    ...(most !== undefined && { max_steps: most }),
  };
}
