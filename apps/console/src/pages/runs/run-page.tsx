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
import { RunLog } from "./log/run-log.tsx";
import { useRunLog } from "./log/use-run-log.ts";
import { Question } from "./question.tsx";
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
              <Notice>Another user runs your agent: what it was given and what it did is theirs alone.</Notice>
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
      toast("The run is cancelled", "plain");
    },
  });
  return (
    <>
      <Link to="/agents/$agentId" params={{ agentId: run.agent_id }} className={buttonClass()}>
        See the agent
      </Link>
      {run.usage && !isOver(run) && (
        <ConfirmButton
          label="Cancel the run"
          question="Cancel this run?"
          explanation="It ends where it stands, with all that it started. What it did is not undone, and what it cost stays paid."
          onConfirm={() => cancelling.mutateAsync()}
        />
      )}
    </>
  );
}

/** The log is read anew from its beginning where following it was given up. */
function OwnRun({ run }: { run: RunRecord }) {
  const [tries, setTries] = useState(0);
  return <Followed key={tries} run={run} onRetry={() => setTries(tries + 1)} />;
}

function Followed({ run, onRetry }: { run: RunRecord; onRetry(): void }) {
  const log = useRunLog(run.id);
  const queries = useQueryClient();
  const told = log.events.filter(({ type }) => type !== "planning" && type !== "reasoning").at(-1)?.id;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each event may be a question, an answer or the end.
  useEffect(() => {
    void queries.invalidateQueries({ queryKey: ["runs", "one", run.id] });
    void queries.invalidateQueries({ queryKey: ["runs", "questions", run.id] });
  }, [told]);
  const questions = useQuery({
    queryKey: ["runs", "questions", run.id],
    queryFn: ({ signal }) => api.runs.confirmations.list(run.id, { signal }),
    refetchInterval: isOver(run) ? false : 5_000,
  });
  const pending = isOver(run) ? [] : (questions.data?.filter(({ status }) => status === "pending") ?? []);
  const below = new Set(questions.data?.filter(({ run_id }) => run_id !== run.id).map(({ id }) => id));
  return (
    <>
      {pending.map((asked) => (
        <Question key={asked.id} runId={run.id} asked={asked} />
      ))}
      <RunResult run={run} />
      <RunLog run={run} log={log} below={below} onRetry={onRetry} />
      <CodeBlock wrap label="Input" text={pretty(run.input ?? {})} />
    </>
  );
}
