import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Empty } from "../../../ui/notice.tsx";
import { Panel } from "../../../ui/page.tsx";
import { Paged } from "../../../ui/paged.tsx";
import { runsQuery } from "../../runs/run-queries.ts";
import { RunsTable } from "../../runs/runs-table.tsx";

/** Also runs of others, of which one sees that they were and what they earned. */
export function RunsTab({ agentId }: { agentId: string }) {
  const { page = 1 } = useSearch({ from: "/app/agents/$agentId" });
  const navigate = useNavigate({ from: "/agents/$agentId" });
  const list = useQuery(runsQuery(page, { agent_id: agentId }));
  return (
    <Panel flush>
      <Paged
        query={list}
        onPage={(next, how) => void navigate({ search: { tab: "runs", page: next }, ...how })}
        empty={<Empty title="It has not run yet">Start a run in the first tab.</Empty>}
      >
        {(runs) => <RunsTable runs={runs} ofOneAgent />}
      </Paged>
    </Panel>
  );
}
