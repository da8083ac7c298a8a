import type { RunRecord } from "@gantry/sdk";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { api } from "../../api/client.ts";
import { buttonClass } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code.tsx";
import { ConfirmButton } from "../../ui/dialog.tsx";
import { pretty } from "../../ui/json.rules.ts";
import { Loaded, Notice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { toast } from "../../ui/toast.ts";
import { useAgentName } from "../agents/agent-queries.ts";
import { Confirmation } from "./confirmation.tsx";
import { RunLog } from "./log/run-log.tsx";
import { useRunLog } from "./log/use-run-log.ts";
import { RunFacts } from "./run-facts.tsx";
import { RunResult } from "./run-result.tsx";
import { isOver } from "./run-status.tsx";

export function RunPage() {
  const { runId } = useParams({ from: "/app/runs/$runId" });
  const run = useQuery({
    queryKey: ["runs", "one", runId],
    queryFn: ({ signal }) => api.runs.get(runId, { signal }),
    refetchInterval: ({ state: { data } }) => (data && !isOver(data) ? 2_000 : false),
  });
  const nameOf = useAgentName();
  return (
    <Page
      title={run.data ? nameOf(run.data.agent_id) : "Run"}
      lead={<code className="text-xs">{runId}</code>}
      actions={run.data && <Actions run={run.data} />}
    >
      <Loaded query={run}>
        {(record) => (
          <>
            <RunFacts run={record} />
            {record.usage ? (
              <OwnRun key={runId} run={record} />
            ) : (
              <Notice>Another user runs your agent. Only they can see its input and results.</Notice>
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Actions({ run }: { run: RunRecord }) {
  const queries = useQueryClient();
  const cancelling = useMutation({
    mutationFn: () => api.runs.cancel(run.id),
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: ["runs"] });
      toast("Run cancelled", "plain");
    },
  });
  return (
    <>
      <Link to="/agents/$agentId" params={{ agentId: run.agent_id }} className={buttonClass()}>
        View agent
      </Link>
      {run.usage && !isOver(run) && (
        <ConfirmButton
          label="Cancel run"
          question="Cancel this run?"
          cancel="Keep running"
          explanation="The run and its sub-agents stop immediately. Completed actions are not undone, and charges so far are kept."
          onConfirm={() => cancelling.mutateAsync()}
        />
      )}
    </>
  );
}

/** A retry reads the log from the beginning. */
function OwnRun({ run }: { run: RunRecord }) {
  const [attempts, setAttempts] = useState(0);
  return <FollowedRun key={attempts} run={run} onRetry={() => setAttempts(attempts + 1)} />;
}

function FollowedRun({ run, onRetry }: { run: RunRecord; onRetry(): void }) {
  const log = useRunLog(run.id);
  const queries = useQueryClient();
  const lastChange = log.events.filter(({ type }) => type !== "planning" && type !== "reasoning").at(-1)?.id;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each event may be a confirmation, its answer or the end.
  useEffect(() => {
    void queries.invalidateQueries({ queryKey: ["runs", "one", run.id] });
    void queries.invalidateQueries({ queryKey: ["runs", "confirmations", run.id] });
  }, [lastChange]);
  const confirmations = useQuery({
    queryKey: ["runs", "confirmations", run.id],
    queryFn: ({ signal }) => api.runs.confirmations.list(run.id, { signal }),
    refetchInterval: isOver(run) ? false : 5_000,
  });
  const pending = isOver(run) ? [] : (confirmations.data?.filter(({ status }) => status === "pending") ?? []);
  const fromDescendants = new Set(confirmations.data?.filter(({ run_id }) => run_id !== run.id).map(({ id }) => id));
  return (
    <>
      {pending.map((confirmation) => (
        <Confirmation key={confirmation.id} runId={run.id} confirmation={confirmation} />
      ))}
      <RunResult run={run} />
      <RunLog run={run} log={log} fromDescendants={fromDescendants} onRetry={onRetry} />
      <CodeBlock wrap label="Input" text={pretty(run.input ?? {})} />
    </>
  );
}
