import type { SecretRecord } from "@gantry/sdk";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { api } from "../../api/client.ts";
import { useSession } from "../../shell/session.ts";
import { Moment } from "../../ui/moment.tsx";
import { Empty } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { PagedTable } from "../../ui/paged.tsx";
import type { Column } from "../../ui/table.tsx";
import { DeleteSecret } from "./delete-secret.tsx";
import { PutSecret } from "./put-secret.tsx";
import { modelsBySecret } from "./secret-users.rules.ts";
import { SecretUsers } from "./secret-users.tsx";

export function SecretsPage() {
  const { page = 1 } = useSearch({ from: "/app/secrets" });
  const navigate = useNavigate();
  const secrets = useQuery({
    queryKey: ["secrets", "page", { page }],
    queryFn: ({ signal }) => api.secrets.list({ page, signal }),
    placeholderData: keepPreviousData,
  });
  const usersOf = useSecretUsers();
  const columns: readonly Column<SecretRecord>[] = [
    { head: "Name", cell: ({ name }) => <code className="break-all">{name}</code> },
    { head: "Used by", wide: true, cell: ({ name }) => <SecretUsers models={usersOf(name)} /> },
    { head: "Stored", wide: true, cell: ({ created_at }) => <Moment at={created_at} /> },
    { head: "Changed", wide: true, cell: ({ updated_at }) => <Moment at={updated_at} /> },
    {
      head: "Actions",
      align: "right",
      cell: ({ name }) => (
        <div className="flex justify-end">
          <PutSecret label="Replace" name={name} />
          <DeleteSecret name={name} users={usersOf(name)} />
        </div>
      ),
    },
  ];
  return (
    <Page
      title="Secrets"
      lead={
        <>
          Credentials that the backends of your models need. A manifest names one as <code>backend.secret</code>; the
          value goes to the backend and is never read back.
        </>
      }
      actions={<PutSecret label="New secret" icon={<Plus size={14} />} />}
    >
      <Panel flush>
        <PagedTable
          label="Secrets"
          query={secrets}
          columns={columns}
          keyOf={({ name }) => name}
          onPage={(to, how) => void navigate({ to: "/secrets", search: { page: to }, ...how })}
          empty={
            <Empty title="No secrets yet">
              Store the API key of a provider under a name such as <code>openai</code>, then name it in the manifest of
              your model.
            </Empty>
          }
        />
      </Panel>
    </Page>
  );
}

/** Undefined as long as the models are not known. */
function useSecretUsers(): (secret: string) => readonly string[] | undefined {
  const { username } = useSession();
  const models = useQuery({
    queryKey: ["models", "own", username],
    queryFn: ({ signal }) => Array.fromAsync(api.models.each({ q: `${username}/`, signal })),
  });
  const users = models.data && modelsBySecret(models.data, username);
  return (secret) => users && (users.get(secret) ?? []);
}
