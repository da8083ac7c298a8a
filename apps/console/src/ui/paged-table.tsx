import type { Page } from "@gantry/sdk";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { Empty, Loaded } from "./notice.tsx";
import { type Column, Pager, Table } from "./table.tsx";

interface PagedTableProps<Row> {
  query: UseQueryResult<Page<Row>>;
  columns: readonly Column<Row>[];
  keyOf(row: Row): string;
  empty: ReactNode;
  label: string;
  onPage(page: number): void;
}

/** A list of the service, page by page. */
export function PagedTable<Row>({ query, columns, keyOf, empty, label, onPage }: PagedTableProps<Row>) {
  return (
    <Loaded query={query}>
      {({ results, page, total_pages, total_count }) => (
        <>
          <Table
            label={label}
            rows={results}
            keyOf={keyOf}
            columns={columns}
            // The last entry of the last page may have been deleted.
            empty={page > 1 && total_count > 0 ? <BehindTheEnd onPage={onPage} /> : empty}
          />
          <Pager page={page} totalPages={total_pages} total={total_count} onPage={onPage} />
        </>
      )}
    </Loaded>
  );
}

function BehindTheEnd({ onPage }: { onPage(page: number): void }) {
  return (
    <Empty title="The list does not reach this far">
      <Button onClick={() => onPage(1)}>To its first page</Button>
    </Empty>
  );
}
