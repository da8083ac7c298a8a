import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { api } from "../../../api/client.ts";
import { Empty, Loaded } from "../../../ui/notice.tsx";
import { Panel } from "../../../ui/page.tsx";
import { Pager } from "../../../ui/table.tsx";
import { RunsTable } from "../../runs/runs-table.tsx";

const onePage = 20;

/** Also runs of others, of which one sees that they were and what they earned. */
export function RunsTab({ agentId }: { agentId: string }) {
  const { page = 1 } = useSearch({ from: "/app/agents/$agentId" });
  const navigate = useNavigate({ from: "/agents/$agentId" });
  const list = useQuery({
    queryKey: ["runs", "of", agentId, page],
    queryFn: ({ signal }) => api.runs.list({ agent_id: agentId, limit: onePage, offset: (page - 1) * onePage, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: 5_000,
  });
  return (
    <Panel flush>
      <Loaded query={list}>
        {({ runs, total }) => (
          <>
            <RunsTable
              runs={runs}
              ofOneAgent
              empty={<Empty title="It has not run yet">Start a run in the first tab.</Empty>}
            />
            <Pager
              page={page}
              total={total}
              totalPages={Math.ceil(total / onePage)}
              onPage={(next) => void navigate({ search: { tab: "runs", page: next } })}
            />
          </>
        )}
      </Loaded>
    </Panel>
  );
}
