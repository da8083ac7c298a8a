import type { Page } from "@gantry/sdk";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { Empty, Loaded } from "./notice.tsx";
import { type Column, Pager, Table } from "./table.tsx";

interface PagedProps<Row> {
  query: UseQueryResult<Page<Row>>;
  /** Shown where the list has nothing. */
  empty: ReactNode;
  onPage(page: number): void;
  children(rows: Row[]): ReactNode;
}

/** A list of the service, page by page. */
export function Paged<Row>({ query, empty, onPage, children }: PagedProps<Row>) {
  return (
    <Loaded query={query}>
      {({ results, page, total_pages, total_count }) => {
        if (results.length === 0) return total_count > 0 ? <BehindTheEnd onPage={onPage} /> : empty;
        return (
          <>
            {children(results)}
            <Pager page={page} totalPages={total_pages} total={total_count} onPage={onPage} />
          </>
        );
      }}
    </Loaded>
  );
}

/** The last entry of the last page may have been deleted. */
function BehindTheEnd({ onPage }: Pick<PagedProps<unknown>, "onPage">) {
  return (
    <Empty title="The list does not reach this far">
      <Button onClick={() => onPage(1)}>To its first page</Button>
    </Empty>
  );
}

interface PagedTableProps<Row> extends Omit<PagedProps<Row>, "children"> {
  columns: readonly Column<Row>[];
  keyOf(row: Row): string;
  label: string;
}

export function PagedTable<Row>({ columns, keyOf, label, ...paged }: PagedTableProps<Row>) {
  return <Paged {...paged}>{(rows) => <Table label={label} rows={rows} keyOf={keyOf} columns={columns} />}</Paged>;
}
