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
            { value: "own", label: "Only you", content: <ProviderList scope="own" /> },
            { value: "everyone", label: "Everyone", content: <ProviderList scope="everyone" /> },
          ]}
        />
      ) : (
        <ProviderList scope="own" />
      )}
    </Page>
  );
}

const shared = (scope: ProviderScope) => (scope === "everyone" ? { for: scope } : {});

function ProviderList({ scope }: { scope: ProviderScope }) {
  const { username } = useSession();
  const providers = useQuery(providersQuery(scope, username));
  return (
    <Panel flush>
      <Loaded query={providers}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="No providers yet">
              <Link to="/models/connect" className="text-accent underline">
                Connect a model
              </Link>{" "}
              of a vendor, or of a server that you run.
            </Empty>
          ) : (
            <ul aria-label="Providers">
              {all.map((provider) => (
                <ProviderRow key={provider.name} provider={provider} scope={scope} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  );
}

function ProviderRow({ provider, scope }: { provider: ProviderRecord; scope: ProviderScope }) {
  const { name, type, source, url, models } = provider;
  return (
    <li className="flex flex-col gap-x-6 gap-y-2 border-line border-b px-4 py-3 last:border-b-0 sm:flex-row sm:items-center">
      <div className="min-w-0 flex-1">
        <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <Link
            to="/models/connect"
            search={{ provider: name, ...shared(scope) }}
            className="wrap-anywhere font-medium text-accent hover:underline"
          >
            {name}
          </Link>
          <Badge tone="info">{presetOf(type).label}</Badge>
          {source !== "saved" && <Badge>{source === "found" ? "Found at start" : "From the environment"}</Badge>}
        </div>
        <code className="wrap-anywhere block text-muted text-xs">{url ?? presetOf(type).url}</code>
        <p className="text-muted text-xs">
          {models === 1 ? "1 model" : `${models} models`}, changed <Moment at={provider.updated_at} />
        </p>
      </div>
      <Actions provider={provider} scope={scope} />
    </li>
  );
}

function Actions({ provider, scope }: { provider: ProviderRecord; scope: ProviderScope }) {
  const { name, source, models } = provider;
  return (
    <div className="-ml-3 flex flex-wrap sm:ml-0 sm:justify-end">
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
