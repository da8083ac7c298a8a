import type { KeyRecord } from "@gantry/sdk";
import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { ConfirmButton } from "../../ui/dialog.tsx";
import { Empty } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import { PagedTable } from "../../ui/paged.tsx";
import { toast } from "../../ui/toast.ts";
import { keyFacts } from "../keys/key-columns.tsx";
import { nameOf } from "../keys/key-name.ts";

export function UserKeys({ username }: { username: string }) {
  const [page, setPage] = useState(1);
  const keys = useQuery({
    queryKey: ["admin", "keys", { username, page }],
    queryFn: ({ signal }) => api.admin.users.keys(username, { page, page_size: 10, signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <Panel title="API keys" flush>
      <PagedTable
        label="API keys"
        query={keys}
        keyOf={({ id }) => id}
        onPage={setPage}
        columns={[
          {
            head: "Key",
            cell: ({ name, public: shown }) => (
              <div className="max-w-36 md:max-w-60">
                <p className="truncate font-medium">{name || "Unnamed"}</p>
                <code className="text-muted text-xs">{shown}</code>
              </div>
            ),
          },
          ...keyFacts,
          {
            head: "Actions",
            align: "right",
            cell: (key) => <Revoke username={username} apiKey={key} />,
          },
        ]}
        empty={<Empty title="No keys">{username} cannot call Gantry without a key.</Empty>}
      />
    </Panel>
  );
}

function Revoke({ username, apiKey }: { username: string; apiKey: KeyRecord }) {
  const queries = useQueryClient();
  const revoking = useMutation({
    mutationFn: () => api.admin.users.revokeKey(username, apiKey.id),
    async onSuccess() {
      toast(`Key ${nameOf(apiKey)} revoked`);
      await queries.invalidateQueries({ queryKey: ["admin", "keys"] });
    },
  });
  return (
    <ConfirmButton
      label="Revoke"
      subject={`key ${nameOf(apiKey)}`}
      quiet
      question={`Revoke key ${nameOf(apiKey)} of ${username}?`}
      explanation="Apps using it lose access immediately. This can't be undone."
      onConfirm={() => revoking.mutateAsync()}
    />
  );
}
