import type { AgentActivity } from "@gantry/sdk";
import { count } from "../../ui/format.ts";

/** The API counts no further. */
const mostCounted = 1000;

export const runsText = ({ runs }: Pick<AgentActivity, "runs">): string =>
  runs === 1 ? "1 run" : `${count(runs)}${runs >= mostCounted ? "+" : ""} runs`;

/** Of the runs that ended. Undefined: none did. */
export function successRate({ succeeded, failed }: Pick<AgentActivity, "succeeded" | "failed">): number | undefined {
  const ended = succeeded + failed;
  return ended === 0 ? undefined : succeeded / ended;
}

/** Rounded down, so that 100% means all. */
export const percent = (rate: number): string => `${Math.floor(rate * 100)}%`;
