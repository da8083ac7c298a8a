import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Empty } from "../../../ui/notice.tsx";
import { Panel } from "../../../ui/page.tsx";
import { Paged } from "../../../ui/paged.tsx";
import { runsQuery } from "../../runs/run-queries.ts";
import { RunsTable } from "../../runs/runs-table.tsx";

/** Includes runs of other users, with only their status and revenue. */
export function RunsTab({ agentId }: { agentId: string }) {
  const { page = 1 } = useSearch({ from: "/app/agents/$agentId" });
  const navigate = useNavigate({ from: "/agents/$agentId" });
  const list = useQuery(runsQuery(page, { agent_id: agentId }));
  return (
    <Panel flush>
      <Paged
        query={list}
        onPage={(next, how) => void navigate({ search: { tab: "runs", page: next }, ...how })}
        empty={<Empty title="No runs yet">Start one in the Run tab.</Empty>}
      >
        {(runs) => <RunsTable runs={runs} ofOneAgent />}
      </Paged>
    </Panel>
  );
}
