import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { mayOpen } from "../../shell/key-access.rules.ts";
import { useSession } from "../../shell/session.ts";
import { Empty } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { PagedTable } from "../../ui/paged.tsx";
import { keyColumns } from "./key-columns.tsx";
import { KeyDialog } from "./key-dialog.tsx";
import { NewKey } from "./new-key.tsx";

export function KeysPage() {
  const { page = 1, key: shown, new: isNewAsked = false } = useSearch({ from: "/app/keys" });
  const navigate = useNavigate({ from: "/keys" });
  const session = useSession();
  const keys = useQuery({
    queryKey: ["keys", "page", { page }],
    queryFn: ({ signal }) => api.account.keys.list({ page, signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <Page
      title="API keys"
      lead="Keys let your apps call Gantry as you. You see a key only once; after that only its prefix is shown."
      actions={
        mayOpen(session.key, "unlimited keys") && (
          <NewKey
            label="New key"
            create={(key) => api.account.keys.create(key)}
            isAsked={isNewAsked}
            onAsked={() => void navigate({ search: ({ new: _asked, ...rest }) => rest, replace: true })}
          />
        )
      }
    >
      <Panel flush>
        <PagedTable
          label="API keys"
          query={keys}
          columns={keyColumns}
          keyOf={({ id }) => id}
          onPage={(to, how) => void navigate({ search: { page: to }, ...how })}
          empty={
            <Empty title="No keys yet">
              Create one key per app, with only the access it needs. Then you can revoke each key on its own.
            </Empty>
          }
        />
      </Panel>
      {shown && <KeyDialog id={shown} onClose={() => void navigate({ search: ({ key: _shown, ...rest }) => rest })} />}
    </Page>
  );
}
