import type { AgentActivity } from "@gantry/sdk";
import { percent, runsText, successRate } from "./activity.rules.ts";

/** How the runs of the last 30 days ended. */
export function SuccessRate({ activity }: { activity: AgentActivity }) {
  const rate = successRate(activity);
  if (rate === undefined) return <span className="text-muted">–</span>;
  const tone = rate >= 0.9 ? "bg-good" : rate >= 0.5 ? "bg-warn" : "bg-bad";
  return (
    <span
      className="inline-flex items-center gap-2 whitespace-nowrap"
      title={`${runsText(activity)} in 30 days, ${activity.failed} failed or cancelled`}
    >
      <span aria-hidden className="h-1.5 w-12 overflow-hidden rounded-full bg-sunken">
        <span className={`block h-full rounded-full ${tone}`} style={{ width: `${rate * 100}%` }} />
      </span>
      {percent(rate)}
    </span>
  );
}
