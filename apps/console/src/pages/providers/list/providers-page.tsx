import type { ProviderRecord } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useSession } from "../../../shell/session.ts";
import { Badge } from "../../../ui/badge.tsx";
import { buttonClass } from "../../../ui/button.tsx";
import { Moment } from "../../../ui/moment.tsx";
import { Empty, Loaded } from "../../../ui/notice.tsx";
import { Page, Panel } from "../../../ui/page.tsx";
import { type Column, Table } from "../../../ui/table.tsx";
import { Tabs } from "../../../ui/tabs.tsx";
import { presetOf } from "../provider-form.rules.ts";
import { type ProviderScope, providersQuery, useMayShare } from "../provider-scope.ts";
import { DeleteProvider } from "./delete-provider.tsx";
import { TestProvider } from "./test-provider.tsx";
import { UpdateModels } from "./update-models.tsx";

export function ProvidersPage() {
  const mayShare = useMayShare();
  const { for: wanted } = useSearch({ from: "/app/providers" });
  const navigate = useNavigate({ from: "/providers" });
  const scope: ProviderScope = mayShare && wanted ? wanted : "own";
  return (
    <Page
      title="Providers"
      lead="Vendors and servers that your models come from."
      actions={
        <Link to="/models/connect" className={buttonClass("primary")}>
          <Plus size={14} /> Connect a model
        </Link>
      }
    >
      {mayShare ? (
        <Tabs
          value={scope}
          onValue={(to) => void navigate({ search: to === "everyone" ? { for: to } : {} })}
          tabs={[
            { value: "own", label: "Only you", content: <ProviderTable scope="own" /> },
            { value: "everyone", label: "Everyone", content: <ProviderTable scope="everyone" /> },
          ]}
        />
      ) : (
        <ProviderTable scope="own" />
      )}
    </Page>
  );
}

const shared = (scope: ProviderScope) => (scope === "everyone" ? { for: scope } : {});

function ProviderTable({ scope }: { scope: ProviderScope }) {
  const { username } = useSession();
  const providers = useQuery(providersQuery(scope, username));
  const columns: readonly Column<ProviderRecord>[] = [
    {
      head: "Name",
      cell: ({ name, type, source }) => (
        <>
          <Link
            to="/models/connect"
            search={{ provider: name, ...shared(scope) }}
            className="wrap-anywhere text-accent hover:underline"
          >
            {name}
          </Link>
          <p className="text-muted text-xs">{presetOf(type).label}</p>
          {source !== "saved" && <Badge>{source === "found" ? "Found at start" : "From the environment"}</Badge>}
        </>
      ),
    },
    {
      head: "Address",
      wide: true,
      cell: ({ url, type }) => (
        <code className="wrap-anywhere text-xs">{url ?? presetOf(type).url ?? "Default address"}</code>
      ),
    },
    { head: "Models", align: "right", cell: ({ models }) => models },
    { head: "Updated", wide: true, cell: ({ updated_at }) => <Moment at={updated_at} /> },
    {
      head: "Actions",
      align: "right",
      cell: (provider) => <Actions provider={provider} scope={scope} />,
    },
  ];
  return (
    <Panel flush>
      <Loaded query={providers}>
        {(all) => (
          <Table
            label="Providers"
            rows={all}
            keyOf={({ name }) => name}
            columns={columns}
            empty={
              <Empty title="No providers yet">
                <Link to="/models/connect" className="text-accent underline">
                  Connect a model
                </Link>{" "}
                of a vendor, or of a server that you run.
              </Empty>
            }
          />
        )}
      </Loaded>
    </Panel>
  );
}

function Actions({ provider, scope }: { provider: ProviderRecord; scope: ProviderScope }) {
  const { name, source, models } = provider;
  return (
    <div className="flex flex-wrap justify-end">
      <TestProvider name={name} scope={scope} />
      {models > 0 && <UpdateModels name={name} scope={scope} />}
      {source !== "environment" && (
        <Link
          to="/models/connect"
          search={{ provider: name, edit: true, ...shared(scope) }}
          aria-label={`Edit ${name}`}
          className={buttonClass("quiet")}
        >
          Edit
        </Link>
      )}
      {source === "saved" && <DeleteProvider provider={provider} scope={scope} />}
    </div>
  );
}
