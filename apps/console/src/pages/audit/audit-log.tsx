import type { AuditFilter, AuditRecord, Page as PageOf } from "@gantry/sdk";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { AuditSearch } from "../../searches.rules.ts";
import { ChoiceFilter } from "../../ui/choice-filter.tsx";
import { momentsOf } from "../../ui/day-range.rules.ts";
import { DayRangePicker } from "../../ui/day-range-picker.tsx";
import { Moment } from "../../ui/moment.tsx";
import { Empty } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { type OnPage, PagedTable } from "../../ui/paged.tsx";
import { SearchInput } from "../../ui/search-input.tsx";
import type { Column } from "../../ui/table.tsx";
import { AuditDialog } from "./audit-dialog.tsx";
import { type AuditScope, auditKinds } from "./audit-kinds.ts";

function columns(onOpen: (record: AuditRecord) => void): readonly Column<AuditRecord>[] {
  return [
    { head: "When", wide: true, cell: ({ created_at }) => <Moment at={created_at} /> },
    { head: "Who", cell: ({ actor }) => actor.username ?? actor.type },
    {
      head: "Action",
      cell: (record) => (
        <>
          <button type="button" data-row-link="" className="text-accent hover:underline" onClick={() => onOpen(record)}>
            {record.action}
          </button>
          <p className="text-muted text-xs md:hidden">
            <Moment at={record.created_at} />
          </p>
        </>
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

interface AuditLogProps {
  title: string;
  lead: string;
  /** All records, or those of the signed-in account. */
  scope: AuditScope;
  read(query: AuditFilter & { page: number; signal: AbortSignal }): Promise<PageOf<AuditRecord>>;
  actions?(filter: AuditFilter): ReactNode;
  search: AuditSearch;
  /** A changed filter starts at the first page. */
  onSearch(search: AuditSearch): void;
  onPage: OnPage;
}

/** Records with filters; a click shows the change. */
export function AuditLog({ title, lead, scope, read, actions, search, onSearch, onPage }: AuditLogProps) {
  const { page = 1, q, action, actor, from, to } = search;
  const [opened, setOpened] = useState<AuditRecord>();
  const range = { ...(from && { from }), ...(to && { to }) };
  const { first, last } = momentsOf(range);
  const filter = { action: action && `${action}.`, actor, q, from_date: first, to_date: last };
  const records = useQuery({
    queryKey: ["audit", scope, { page, ...filter }],
    queryFn: ({ signal }) => read({ page, ...filter, signal }),
    placeholderData: keepPreviousData,
  });
  const change = (wanted: object) => {
    const { page: _page, ...now } = search;
    onSearch({ ...now, ...wanted });
  };
  return (
    <Page title={title} lead={lead} actions={actions?.(filter)}>
      <div className="flex flex-wrap items-end gap-3">
        <SearchInput label="Id or name" q={q} onQ={(text) => change({ q: text })} />
        {scope === "all" && <SearchInput label="User who acted" q={actor} onQ={(text) => change({ actor: text })} />}
        <div className="w-44">
          <ChoiceFilter
            label="Kind"
            all="All kinds"
            choices={auditKinds(scope)}
            value={action}
            onValue={(kind) => change({ action: kind })}
          />
        </div>
        <DayRangePicker range={range} onRange={(wanted) => change({ from: undefined, to: undefined, ...wanted })} />
      </div>
      <Panel flush>
        <PagedTable
          label={title}
          query={records}
          columns={columns(setOpened)}
          keyOf={({ seq }) => String(seq)}
          onPage={onPage}
          empty={<Empty title="No records match" />}
        />
      </Panel>
      {opened && <AuditDialog record={opened} onClose={() => setOpened(undefined)} />}
    </Page>
  );
}
