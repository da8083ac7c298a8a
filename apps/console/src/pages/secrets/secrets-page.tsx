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
    { head: "Created", wide: true, cell: ({ created_at }) => <Moment at={created_at} /> },
    { head: "Updated", wide: true, cell: ({ updated_at }) => <Moment at={updated_at} /> },
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
          Credentials for the backends of your models. Reference a secret in a manifest as <code>backend.secret</code>.
          Values are sent only to the backend and are never shown again.
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
              Save the API key of a provider under a name such as <code>openai</code>, then reference it in the manifest
              of your model.
            </Empty>
          }
        />
      </Panel>
    </Page>
  );
}

/** Returns undefined while the models load. */
function useSecretUsers(): (secret: string) => readonly string[] | undefined {
  const { username } = useSession();
  const models = useQuery({
    queryKey: ["models", "own", username],
    queryFn: ({ signal }) => Array.fromAsync(api.models.each({ q: `${username}/`, signal })),
  });
  const users = models.data && modelsBySecret(models.data, username);
  return (secret) => users && (users.get(secret) ?? []);
}
