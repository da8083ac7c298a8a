import type { TeamRecord } from "@gantry/sdk";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { actingTeam, switchTo } from "../../api/acting-team.ts";
import { api } from "../../api/client.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { money } from "../../ui/format.ts";
import { RowLink } from "../../ui/link.tsx";
import { Empty } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { PagedTable } from "../../ui/paged.tsx";
import type { Column } from "../../ui/table.tsx";
import { NewTeam } from "./new-team.tsx";

const columns: readonly Column<TeamRecord>[] = [
  {
    head: "Team",
    cell: ({ name }) => (
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <RowLink to="/teams/$team" params={{ team: name }} className="break-all">
          {name}
        </RowLink>
        {name === actingTeam() && <Badge tone="info">Acting</Badge>}
      </div>
    ),
  },
  { head: "Your role", cell: ({ role }) => <span className="capitalize">{role}</span> },
  { head: "Members", align: "right", wide: true, cell: ({ members }) => members },
  { head: "Balance", align: "right", wide: true, cell: ({ balance }) => money(balance) },
  {
    head: "Actions",
    align: "right",
    cell: ({ name }) =>
      name === actingTeam() ? (
        <Button kind="quiet" aria-label={`Stop acting for ${name}`} onClick={() => switchTo(undefined)}>
          Stop acting
        </Button>
      ) : (
        <Button kind="quiet" aria-label={`Act for ${name}`} onClick={() => switchTo(name)}>
          Act for team
        </Button>
      ),
  },
];

export function TeamsPage() {
  const { page = 1 } = useSearch({ from: "/app/teams" });
  const navigate = useNavigate();
  const teams = useQuery({
    queryKey: ["teams", "page", { page }],
    queryFn: ({ signal }) => api.teams.list({ page, signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <Page
      title="Teams"
      lead="A team owns models, agents, drives, keys and a balance. While you act for a team, all pages show what the team has."
      actions={<NewTeam />}
    >
      <Panel flush>
        <PagedTable
          label="Teams"
          query={teams}
          columns={columns}
          keyOf={({ id }) => id}
          onPage={(to, how) => void navigate({ to: "/teams", search: { page: to }, ...how })}
          empty={<Empty title="You are not in a team">Create one, or ask the owner of a team to add you.</Empty>}
        />
      </Panel>
    </Page>
  );
}
