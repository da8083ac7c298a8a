import type { MemberRecord, TeamRecord, TeamUsageRecord } from "@gantry/sdk";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { actingTeam, switchTo } from "../../api/acting-team.ts";
import { api } from "../../api/client.ts";
import { ExportData } from "../../shell/export-data.tsx";
import { useSession } from "../../shell/session.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Figure } from "../../ui/figure.tsx";
import { money } from "../../ui/format.ts";
import { Moment } from "../../ui/moment.tsx";
import { Empty, Loaded } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { PagedTable } from "../../ui/paged.tsx";
import type { Column } from "../../ui/table.tsx";
import { budgetLines } from "./budget.rules.ts";
import { CloseTeam } from "./close-team.tsx";
import { PutMember } from "./put-member.tsx";
import { RemoveMember } from "./remove-member.tsx";
import { membersQuery, teamQuery, teamUsageQuery } from "./teams-query.ts";

export function TeamPage() {
  const { team: name } = useParams({ from: "/app/teams/$team" });
  const team = useQuery(teamQuery(name));
  return (
    <Page
      title={name}
      lead="Members act for the team with their own sign-in and keys."
      actions={
        name !== actingTeam() ? (
          <Button kind="primary" onClick={() => switchTo(name)}>
            Act for team
          </Button>
        ) : (
          team.data &&
          team.data.role !== "member" && <ExportData username={name} start={(options) => api.account.export(options)} />
        )
      }
    >
      <Loaded query={team}>
        {(record) => (
          <>
            <dl className="grid gap-4 sm:grid-cols-3">
              <Figure name="Balance" value={money(record.balance)} />
              <Figure name="Members" value={String(record.members)} />
              <Figure name="Plan" value={record.plan} />
            </dl>
            <Members team={record} />
            <Usage team={name} />
            {record.role === "owner" && <CloseTeam team={name} />}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Members({ team }: { team: TeamRecord }) {
  const { page = 1 } = useSearch({ from: "/app/teams/$team" });
  const navigate = useNavigate();
  const { person, username } = useSession();
  const members = useQuery({ ...membersQuery(team.name, page), placeholderData: keepPreviousData });
  const manages = team.role !== "member";
  const columns: readonly Column<MemberRecord>[] = [
    {
      head: "Member",
      cell: (member) => (
        <>
          <span className="flex flex-wrap items-center gap-x-2 break-all">
            {member.username}
            {member.disabled && <Badge tone="bad">Disabled</Badge>}
          </span>
          {/* Replaces the hidden columns on narrow screens. */}
          <p className="text-muted text-xs capitalize md:hidden">{member.role}</p>
          <div className="text-xs md:hidden">
            <Budget member={member} />
          </div>
        </>
      ),
    },
    { head: "Role", wide: true, cell: ({ role }) => <span className="capitalize">{role}</span> },
    { head: "Budget", wide: true, cell: (member) => <Budget member={member} /> },
    { head: "Last active", wide: true, cell: ({ last_active_at: at }) => (at === null ? "–" : <Moment at={at} />) },
    {
      head: "Actions",
      align: "right",
      cell: (member) => (
        <div className="flex justify-end">
          {manages && <PutMember team={team} member={member} />}
          {(manages || member.username === (person ?? username)) && (
            <RemoveMember team={team.name} member={member.username} isSelf={member.username === (person ?? username)} />
          )}
        </div>
      ),
    },
  ];
  return (
    <Panel title="Members" flush actions={manages && <PutMember team={team} />}>
      <PagedTable
        label="Members"
        query={members}
        columns={columns}
        keyOf={(member) => member.username}
        onPage={(to, how) =>
          void navigate({ to: "/teams/$team", params: { team: team.name }, search: { page: to }, ...how })
        }
        empty={<Empty title="No members" />}
      />
    </Panel>
  );
}

/** What a member has spent this month, and its limits. */
function Budget({ member }: { member: MemberRecord }) {
  const lines = budgetLines(member);
  if (lines.length === 0) return <span className="text-muted">–</span>;
  return lines.map((line) => (
    <p key={line} className="tabular-nums">
      {line}
    </p>
  ));
}

const usageColumns: readonly Column<TeamUsageRecord>[] = [
  { head: "Member", cell: ({ member }) => member ?? "Other users, who ran the team's agents" },
  { head: "Requests", align: "right", cell: ({ requests }) => requests },
  { head: "Errors", align: "right", wide: true, cell: ({ errors }) => errors },
  { head: "Tokens", align: "right", wide: true, cell: (one) => one.input_tokens + one.output_tokens },
  { head: "Spent", align: "right", cell: ({ spent }) => money(spent) },
];

function Usage({ team }: { team: string }) {
  const [page, setPage] = useState(1);
  const usage = useQuery({ ...teamUsageQuery(team, page), placeholderData: keepPreviousData });
  return (
    <Panel title="Usage this month" flush>
      <PagedTable
        label="Usage this month"
        query={usage}
        columns={usageColumns}
        keyOf={({ member }) => member ?? ""}
        onPage={setPage}
        empty={<Empty title="Nothing used this month" />}
      />
    </Panel>
  );
}
