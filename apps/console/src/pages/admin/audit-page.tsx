import type { AuditRecord } from "@gantry/sdk";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { ChoiceFilter } from "../../ui/choice-filter.tsx";
import { momentsOf } from "../../ui/day-range.rules.ts";
import { DayRangePicker } from "../../ui/day-range-picker.tsx";
import { Moment } from "../../ui/moment.tsx";
import { Empty } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { PagedTable } from "../../ui/paged.tsx";
import { SearchInput } from "../../ui/search-input.tsx";
import type { Column } from "../../ui/table.tsx";
import { AuditCsvButton } from "./audit-csv-button.tsx";
import { AuditDialog } from "./audit-dialog.tsx";
import { auditKinds } from "./audit-kinds.ts";
import { OnlyAdmins } from "./only-admins.tsx";

const title = "Audit log";
const route = getRouteApi("/app/admin/audit");

export function AuditPage() {
  return (
    <OnlyAdmins title={title}>
      <AuditLog />
    </OnlyAdmins>
  );
}

function columns(onOpen: (record: AuditRecord) => void): readonly Column<AuditRecord>[] {
  return [
    { head: "When", cell: ({ created_at }) => <Moment at={created_at} /> },
    { head: "Who", cell: ({ actor }) => actor.username ?? actor.type },
    {
      head: "Action",
      cell: (record) => (
        <button type="button" className="text-accent hover:underline" onClick={() => onOpen(record)}>
          {record.action}
        </button>
      ),
    },
    {
      head: "Object",
      cell: ({ object }) => <span className="wrap-anywhere">{object.name ?? object.id}</span>,
    },
    { head: "Owner", wide: true, cell: ({ owner }) => owner?.username },
    { head: "From", wide: true, cell: ({ origin }) => origin?.address },
  ];
}

function AuditLog() {
  const { page = 1, q, action, actor, from, to } = route.useSearch();
  const navigate = route.useNavigate();
  const [opened, setOpened] = useState<AuditRecord>();
  const { first, last } = momentsOf({ ...(from && { from }), ...(to && { to }) });
  const filter = { action: action && `${action}.`, actor, q, from_date: first, to_date: last };
  const records = useQuery({
    queryKey: ["admin", "audit", { page, ...filter }],
    queryFn: ({ signal }) => api.admin.audit.list({ page, ...filter, signal }),
    placeholderData: keepPreviousData,
  });
  /** A changed filter starts at the first page. */
  const change = (wanted: object) =>
    void navigate({
      search: ({ page: _page, ...now }) => ({ ...now, ...wanted }),
      replace: true,
      resetScroll: false,
    });
  return (
    <Page
      title={title}
      lead="Who changed what, when and from where. Values of secrets are not recorded."
      actions={<AuditCsvButton filter={filter} />}
    >
      <div className="flex flex-wrap items-end gap-3">
        <SearchInput label="Id or name" q={q} onQ={(text) => change({ q: text })} />
        <SearchInput label="User who acted" q={actor} onQ={(text) => change({ actor: text })} />
        <div className="w-44">
          <ChoiceFilter
            label="Kind"
            all="All kinds"
            choices={auditKinds}
            value={action}
            onValue={(kind) => change({ action: kind })}
          />
        </div>
        <DayRangePicker
          range={{ ...(from && { from }), ...(to && { to }) }}
          onRange={(range) => change({ from: undefined, to: undefined, ...range })}
        />
      </div>
      <Panel flush>
        <PagedTable
          label={title}
          query={records}
          columns={columns(setOpened)}
          keyOf={({ seq }) => String(seq)}
          onPage={(next, how) => void navigate({ search: (now) => ({ ...now, page: next }), ...how })}
          empty={<Empty title="No records match" />}
        />
      </Panel>
      {opened && <AuditDialog record={opened} onClose={() => setOpened(undefined)} />}
    </Page>
  );
}
