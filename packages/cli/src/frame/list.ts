import type { Context } from "./command.ts";
import type { Column } from "./table.rules.ts";

const usualLimit = 20;

/** Prints the first entries of a list, for rows with `listOptions` and `jsonOption`. */
export async function printList<Row>(
  { out, flag, number }: Context,
  entries: AsyncIterable<Row>,
  columns: readonly Column<Row>[],
  empty: string,
): Promise<number> {
  const most = flag("all") ? Number.POSITIVE_INFINITY : (number("limit") ?? usualLimit);
  const rows: Row[] = [];
  let isCut = false;
  for await (const entry of entries) {
    isCut = rows.length >= most;
    if (isCut) break;
    rows.push(entry);
  }
  if (flag("json")) out.json(rows);
  else {
    out.table(columns, rows, empty);
    if (isCut) out.note("There are more. Use --limit or --all to see them.");
  }
  return 0;
}
