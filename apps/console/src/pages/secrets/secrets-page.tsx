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
import { providersQuery } from "../providers/provider-scope.ts";
import { DeleteSecret } from "./delete-secret.tsx";
import { PutSecret } from "./put-secret.tsx";
import { modelsBySecret, providersBySecret, type SecretUses } from "./secret-users.rules.ts";
import { SecretUsers } from "./secret-users.tsx";

export function SecretsPage() {
  const { page = 1 } = useSearch({ from: "/app/secrets" });
  const navigate = useNavigate();
  const secrets = useQuery({
    queryKey: ["secrets", "page", { page }],
    queryFn: ({ signal }) => api.secrets.list({ page, signal }),
    placeholderData: keepPreviousData,
  });
  const usesOf = useSecretUses();
  const columns: readonly Column<SecretRecord>[] = [
    { head: "Name", cell: ({ name }) => <code className="break-all">{name}</code> },
    { head: "Used by", wide: true, cell: ({ name }) => <SecretUsers uses={usesOf(name)} /> },
    { head: "Created", wide: true, cell: ({ created_at }) => <Moment at={created_at} /> },
    { head: "Updated", wide: true, cell: ({ updated_at }) => <Moment at={updated_at} /> },
    {
      head: "Actions",
      align: "right",
      cell: ({ name }) => (
        <div className="flex justify-end">
          <PutSecret label="Replace" name={name} />
          <DeleteSecret name={name} uses={usesOf(name)} />
        </div>
      ),
    },
  ];
  return (
    <Page
      title="Secrets"
      lead={
        <>
          Credentials for your providers and the backends of your models. Reference a secret in a manifest as{" "}
          <code>backend.secret</code>. Values are sent only to the backend and are never shown again.
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

/** Returns undefined while models and providers load. */
function useSecretUses(): (secret: string) => SecretUses | undefined {
  const { username } = useSession();
  const models = useQuery({
    queryKey: ["models", "own", username],
    queryFn: ({ signal }) => Array.fromAsync(api.models.each({ q: `${username}/`, signal })),
  });
  const providers = useQuery(providersQuery("own", username));
  if (!models.data || !providers.data) return () => undefined;
  const ofModels = modelsBySecret(models.data, username);
  const ofProviders = providersBySecret(providers.data, username);
  return (secret) => ({ models: ofModels.get(secret) ?? [], providers: ofProviders.get(secret) ?? [] });
}
