import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Copyable } from "../../ui/copyable.tsx";
import { Loaded, Notice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { RunActions } from "./run-actions.tsx";
import { RunFacts } from "./run-facts.tsx";
import { RunView } from "./run-view.tsx";
import { useRun } from "./use-run.ts";

export function RunPage() {
  const { runId } = useParams({ from: "/app/runs/$runId" });
  // Another run starts with its own state: closed rows, dialogs.
  return <Run key={runId} runId={runId} />;
}

function Run({ runId }: { runId: string }) {
  const { step } = useSearch({ from: "/app/runs/$runId" });
  const navigate = useNavigate({ from: "/runs/$runId" });
  const followed = useRun(runId);
  const { run } = followed;
  return (
    <Page
      wide
      title={run.data?.agent_name ?? "Run"}
      lead={<Copyable text={runId} />}
      actions={run.data && <RunActions run={run.data} />}
    >
      <Loaded query={run}>
        {(record) => (
          <>
            <RunFacts run={record} readAt={run.dataUpdatedAt} />
            {record.usage ? (
              <RunView
                run={record}
                followed={followed}
                step={step}
                onStep={(next) =>
                  void navigate({ search: next === undefined ? {} : { step: next }, replace: true, resetScroll: false })
                }
              />
            ) : (
              <Notice>Another user runs your agent. Only they can see its input and results.</Notice>
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}
