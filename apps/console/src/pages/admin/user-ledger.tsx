import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { Empty } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import { PagedTable } from "../../ui/paged.tsx";
import { ledgerColumns } from "../money/ledger-columns.tsx";

export function UserLedger({ username }: { username: string }) {
  const { page = 1 } = useSearch({ from: "/app/admin/users/$username" });
  const navigate = useNavigate();
  const entries = useQuery({
    queryKey: ["admin", "ledger", { username, page }],
    queryFn: ({ signal }) => api.admin.users.ledger(username, { page, signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <Panel title="Transactions" flush>
      <PagedTable
        label="Transactions"
        query={entries}
        keyOf={({ id }) => String(id)}
        columns={ledgerColumns({ own: false })}
        onPage={(to, how) =>
          void navigate({ to: "/admin/users/$username", params: { username }, search: { page: to }, ...how })
        }
        empty={<Empty title="No transactions yet">Add credit above so that {username} can run paid models.</Empty>}
      />
    </Panel>
  );
}
