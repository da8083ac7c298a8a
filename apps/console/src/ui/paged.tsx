import type { Page } from "@gantry/sdk";
import type { UseQueryResult } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef } from "react";
import { Loaded, Loading } from "./notice.tsx";
import { lastPageInstead } from "./paged.rules.ts";
import { type Column, Pager, Table } from "./table.tsx";

/** `replace`: replaces the current history entry. */
export type OnPage = (page: number, how?: { replace: boolean }) => void;

interface PagedProps<Row> {
  query: UseQueryResult<Page<Row>>;
  empty: ReactNode;
  onPage: OnPage;
  children(rows: Row[]): ReactNode;
}

export function Paged<Row>({ query, empty, onPage, children }: PagedProps<Row>) {
  return (
    <Loaded query={query}>
      {(list) => {
        const { results, page, total_pages, total_count } = list;
        const instead = lastPageInstead(list);
        if (instead !== undefined) return <ToPage page={instead} onPage={onPage} />;
        return (
          <>
            {results.length > 0 ? children(results) : empty}
            <Pager page={page} totalPages={total_pages} total={total_count} onPage={onPage} />
          </>
        );
      }}
    </Loaded>
  );
}

/** Replaces the history entry, so that Back does not return to the missing page. */
export function ToPage({ page, onPage }: { page: number; onPage: OnPage }) {
  const go = useRef(onPage);
  useEffect(() => go.current(page, { replace: true }), [page]);
  return <Loading />;
}

interface PagedTableProps<Row> extends Omit<PagedProps<Row>, "children"> {
  columns: readonly Column<Row>[];
  keyOf(row: Row): string;
  label: string;
}

export function PagedTable<Row>({ columns, keyOf, label, ...paged }: PagedTableProps<Row>) {
  return <Paged {...paged}>{(rows) => <Table label={label} rows={rows} keyOf={keyOf} columns={columns} />}</Paged>;
}
