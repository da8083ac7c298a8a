import type { RunRecord } from "@gantry/sdk";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { count, money, seconds } from "../../ui/format.ts";
import { Moment } from "../../ui/moment.tsx";
import { RunStatusBadge } from "./run-status.tsx";

export function RunFacts({ run }: { run: RunRecord }) {
  const { usage, cost, earned, duration_ms, parent_run_id } = run;
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-3 rounded-lg border border-line bg-panel p-4 sm:grid-cols-3 lg:grid-cols-6">
      <Fact name="Status">
        <RunStatusBadge run={run} />
      </Fact>
      {earned === undefined ? <Fact name="Cost">{money(cost ?? 0)}</Fact> : <Fact name="Earned">{money(earned)}</Fact>}
      {usage && (
        <Fact name="Tokens in and out">
          {count(usage.input_tokens)} / {count(usage.output_tokens)}
          {usage.cached_tokens > 0 && <span className="text-muted text-xs"> {count(usage.cached_tokens)} cached</span>}
        </Fact>
      )}
      <Fact name="Started">
        <Moment at={run.created_at} />
      </Fact>
      {duration_ms !== undefined && <Fact name="Took">{seconds(duration_ms / 1000)}</Fact>}
      {duration_ms === undefined && run.completed_at && (
        <Fact name="Ended">
          <Moment at={run.completed_at} />
        </Fact>
      )}
      {parent_run_id && (
        <Fact name="Started by">
          <Link to="/runs/$runId" params={{ runId: parent_run_id }} className="text-accent hover:underline">
            the run above
          </Link>
        </Fact>
      )}
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-muted text-xs">{name}</dt>
      <dd className="mt-0.5 tabular-nums">{children}</dd>
    </div>
  );
}
