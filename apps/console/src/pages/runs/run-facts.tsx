import type { RunRecord } from "@gantry/sdk";
import { Link } from "@tanstack/react-router";
import { Detail } from "../../ui/detail.tsx";
import { count, money, seconds } from "../../ui/format.ts";
import { Moment } from "../../ui/moment.tsx";
import { RunStatusBadge } from "./run-status.tsx";

export function RunFacts({ run }: { run: RunRecord }) {
  const { usage, cost, earned, duration_ms, parent_run_id } = run;
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-3 rounded-lg border border-line bg-panel p-4 sm:grid-cols-3 lg:grid-cols-6">
      <Detail name="Status">
        <RunStatusBadge run={run} />
      </Detail>
      {earned === undefined ? (
        <Detail name="Cost">{money(cost ?? 0)}</Detail>
      ) : (
        <Detail name="Earned">{money(earned)}</Detail>
      )}
      {usage && (
        <Detail name="Tokens (in / out)">
          {count(usage.input_tokens)} / {count(usage.output_tokens)}
          {usage.cached_tokens > 0 && <span className="text-muted text-xs"> {count(usage.cached_tokens)} cached</span>}
          {usage.cache_write_tokens > 0 && (
            <span className="text-muted text-xs"> {count(usage.cache_write_tokens)} written to cache</span>
          )}
        </Detail>
      )}
      <Detail name="Started">
        <Moment at={run.created_at} />
      </Detail>
      {duration_ms !== undefined && <Detail name="Duration">{seconds(duration_ms / 1000)}</Detail>}
      {duration_ms === undefined && run.completed_at && (
        <Detail name="Finished">
          <Moment at={run.completed_at} />
        </Detail>
      )}
      {parent_run_id && (
        <Detail name="Started by">
          <Link to="/runs/$runId" params={{ runId: parent_run_id }} className="text-accent hover:underline">
            Parent run
          </Link>
        </Detail>
      )}
    </dl>
  );
}
