import type { AliasRecord } from "@gantry/sdk";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { mayOpen } from "../../shell/key-access.rules.ts";
import { useSession } from "../../shell/session.ts";
import { Moment } from "../../ui/moment.tsx";
import { Empty } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { PagedTable } from "../../ui/paged.tsx";
import type { Column } from "../../ui/table.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { type AliasScope, aliasesQuery } from "./alias-scope.ts";
import { DeleteAlias } from "./delete-alias.tsx";
import { PutAlias } from "./put-alias.tsx";

export function AliasesPage() {
  const { role, key } = useSession();
  const forEveryone = role === "admin" && mayOpen(key, "unlimited keys");
  const { for: wanted } = useSearch({ from: "/app/aliases" });
  const navigate = useNavigate({ from: "/aliases" });
  const scope: AliasScope = forEveryone && wanted ? wanted : "own";
  return (
    <Page
      title="Aliases"
      lead="Names for models and agents. Use them in OpenAI and Anthropic clients and as the model of your agents. To switch all of them to another model, change the alias."
      actions={
        !key.isPlainMember && (
          <PutAlias label="New alias" icon={<Plus size={14} />} scope={scope} mayShare={forEveryone} />
        )
      }
    >
      {forEveryone ? (
        <Tabs
          value={scope}
          onValue={(to) => void navigate({ search: to === "everyone" ? { for: to } : {} })}
          tabs={[
            { value: "own", label: "Only you", content: <AliasTable scope="own" /> },
            { value: "everyone", label: "Everyone", content: <AliasTable scope="everyone" /> },
          ]}
        />
      ) : (
        <AliasTable scope="own" />
      )}
    </Page>
  );
}

function AliasTable({ scope }: { scope: AliasScope }) {
  const { page = 1 } = useSearch({ from: "/app/aliases" });
  const navigate = useNavigate({ from: "/aliases" });
  const { key } = useSession();
  const aliases = useQuery({ ...aliasesQuery(scope, page), placeholderData: keepPreviousData });
  const columns: readonly Column<AliasRecord>[] = [
    { head: "Name", cell: (alias) => <Name alias={alias} /> },
    { head: "Model or agent", wide: true, cell: ({ model }) => <code className="break-all">{model}</code> },
    { head: "Updated", wide: true, cell: ({ updated_at }) => <Moment at={updated_at} /> },
    ...(key.isPlainMember ? [] : [actions(scope)]),
  ];
  return (
    <Panel flush>
      <PagedTable
        label="Aliases"
        query={aliases}
        columns={columns}
        keyOf={({ name }) => name}
        onPage={(to, how) => void navigate({ search: (before) => ({ ...before, page: to }), ...how })}
        empty={
          <Empty title="No aliases yet">
            Give a model a name that your programs already use, such as <code>gpt-4o</code>.
          </Empty>
        }
      />
    </Panel>
  );
}

const actions = (scope: AliasScope): Column<AliasRecord> => ({
  head: "Actions",
  align: "right",
  cell: (alias) => (
    <div className="flex justify-end">
      <PutAlias label="Change" alias={alias} scope={scope} />
      <DeleteAlias name={alias.name} scope={scope} />
    </div>
  ),
});

function Name({ alias: { name, model } }: { alias: AliasRecord }) {
  return (
    <>
      <code className="break-all">{name}</code>
      {/* Replaces the hidden column on narrow screens. */}
      <p className="break-all text-muted text-xs md:hidden">{model}</p>
    </>
  );
}
