import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { mayOpen } from "../../shell/key-reach.rules.ts";
import { useSession } from "../../shell/session.ts";
import { Empty } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { PagedTable } from "../../ui/paged.tsx";
import { keyColumns } from "./key-columns.tsx";
import { NewKey } from "./new-key.tsx";

export function KeysPage() {
  const { page = 1 } = useSearch({ from: "/app/keys" });
  const navigate = useNavigate();
  const session = useSession();
  const keys = useQuery({
    queryKey: ["keys", "page", { page }],
    queryFn: ({ signal }) => api.account.keys.list({ page, signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <Page
      title="API keys"
      lead="What programs show to act as you. A key is told once; here and in the logs it goes by its public part."
      actions={
        mayOpen(session.key, "unlimited keys") && (
          <NewKey label="New key" create={(key) => api.account.keys.create(key)} />
        )
      }
    >
      <Panel flush>
        <PagedTable
          label="API keys"
          query={keys}
          columns={keyColumns}
          keyOf={({ id }) => id}
          onPage={(to, how) => void navigate({ to: "/keys", search: { page: to }, ...how })}
          empty={
            <Empty title="No keys yet">
              Make one for each application, with only the reach that it needs: then each can be revoked alone.
            </Empty>
          }
        />
      </Panel>
    </Page>
  );
}
