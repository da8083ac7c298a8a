import type { UserRecord } from "@gantry/sdk";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { money } from "../../ui/format.ts";
import { RowLink } from "../../ui/link.tsx";
import { Moment } from "../../ui/moment.tsx";
import { Empty } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { PagedTable } from "../../ui/paged.tsx";
import type { Column } from "../../ui/table.tsx";
import { NewUser } from "./new-user.tsx";
import { OnlyAdmins } from "./only-admins.tsx";
import { OpenUser } from "./open-user.tsx";
import { UserBadges } from "./user-badges.tsx";

const title = "Users";

export function UsersPage() {
  return (
    <OnlyAdmins title={title}>
      <Users />
    </OnlyAdmins>
  );
}

const columns: readonly Column<UserRecord>[] = [
  {
    head: "User",
    cell: (user) => (
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <RowLink to="/admin/users/$username" params={{ username: user.username }} className="break-all">
          {user.username}
        </RowLink>
        <UserBadges user={user} />
      </div>
    ),
  },
  { head: "Plan", wide: true, cell: ({ plan }) => <code>{plan}</code> },
  {
    head: "Balance",
    align: "right",
    cell: ({ balance }) => (
      <span className={`whitespace-nowrap ${balance < 0 ? "text-bad" : ""}`}>{money(balance)}</span>
    ),
  },
  { head: "On hold", align: "right", wide: true, cell: ({ reserved }) => money(reserved) },
  { head: "Created", align: "right", wide: true, cell: ({ created_at }) => <Moment at={created_at} /> },
];

function Users() {
  const { page = 1 } = useSearch({ from: "/app/admin/users" });
  const navigate = useNavigate();
  const users = useQuery({
    queryKey: ["admin", "users", { page }],
    queryFn: ({ signal }) => api.admin.users.list({ page, signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <Page
      title={title}
      lead="Everyone who can use this installation. New users start with no credit."
      actions={<NewUser />}
    >
      <Panel title="All users" flush actions={<OpenUser />}>
        <PagedTable
          label={title}
          query={users}
          columns={columns}
          keyOf={({ id }) => id}
          onPage={(to, how) => void navigate({ to: "/admin/users", search: { page: to }, ...how })}
          empty={<Empty title="No users" />}
        />
      </Panel>
    </Page>
  );
}
