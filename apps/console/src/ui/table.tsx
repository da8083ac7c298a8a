import type { ReactNode } from "react";
import { followRowLink } from "./row-click.ts";

export interface Column<Row> {
  head: string;
  cell(row: Row): ReactNode;
  align?: "right";
  /** Hidden on narrow screens. */
  wide?: boolean;
  /** Gets what the other columns leave on narrow screens; its texts are truncated. */
  fill?: boolean;
}

interface TableProps<Row> {
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf(row: Row): string;
  empty?: ReactNode;
  label: string;
}

/** Rows with a `RowLink` in a cell are clickable as a whole. */
export function Table<Row>({ columns, rows, keyOf, empty, label }: TableProps<Row>) {
  if (rows.length === 0) return empty;
  const cellClass = ({ align, wide, fill }: Column<Row>) =>
    `px-4 py-2 ${align === "right" ? "text-right tabular-nums" : "text-left"} ${wide ? "hidden md:table-cell" : ""} ${fill ? "max-md:w-full max-md:max-w-0" : ""}`;
  return (
    <div className="overflow-x-auto">
      <table className="w-full border-collapse" aria-label={label}>
        <thead>
          <tr className="border-line border-b text-muted text-xs">
            {columns.map((column) => (
              <th key={column.head} scope="col" className={`${cellClass(column)} font-medium`}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr
              key={keyOf(row)}
              className="border-line border-b align-middle last:border-b-0 has-data-row-link:cursor-pointer has-data-row-link:hover:bg-sunken/60"
              onClick={followRowLink}
              onAuxClick={followRowLink}
            >
              {columns.map((column) => (
                <td key={column.head} className={cellClass(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface PagerProps {
  page: number;
  totalPages: number;
  total: number;
  onPage(page: number): void;
}

export function Pager({ page, totalPages, total, onPage }: PagerProps) {
  if (totalPages <= 1) return null;
  const step = "rounded-md border border-strong-line px-2 py-1 hover:bg-sunken disabled:opacity-40";
  return (
    <nav
      aria-label="Pages"
      className="flex items-center justify-between gap-3 border-line border-t px-4 py-2 text-muted"
    >
      <span>
        Page {page} of {totalPages}, {total.toLocaleString()} in total
      </span>
      <span className="flex gap-2">
        <button type="button" className={step} disabled={page <= 1} onClick={() => onPage(page - 1)}>
          Previous
        </button>
        <button type="button" className={step} disabled={page >= totalPages} onClick={() => onPage(page + 1)}>
          Next
        </button>
      </span>
    </nav>
  );
}
