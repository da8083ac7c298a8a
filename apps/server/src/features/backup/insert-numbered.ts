import type { Transaction } from "../../engines/database/database.ts";
import { insertRows } from "./store.ts";

interface Target {
  name: string;
  columns: readonly string[];
}

/** Names the number of a row that the table refuses. `before` rows were inserted earlier. */
export async function insertNumbered(
  tx: Transaction,
  { name, columns }: Target,
  lines: string[],
  before: number,
): Promise<void> {
  const insert = (some: string[]): Promise<void> => tx.savepoint((inner) => insertRows(inner, name, columns, some));
  try {
    await insert(lines);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    // One by one, because the server does not say which row it was.
    for (const [at, line] of lines.entries()) {
      await insert([line]).catch((reason: unknown) => {
        throw isRefusal(reason) ? refused(name, before + at + 1, reason) : reason;
      });
    }
  }
}

interface Refusal extends Error {
  code: string;
  constraint?: string;
}

/** An error about the row, not about the server. */
function isRefusal(error: unknown): error is Refusal {
  return error instanceof Error && error.name === "PostgresError" && "code" in error;
}

/** Without the server's message, which quotes user data. */
function refused(table: string, row: number, { code, constraint: rule }: Refusal): Error {
  const why = rule === undefined ? `PostgreSQL's error ${code}` : `PostgreSQL's error ${code}, ${rule}`;
  return new Error(`Row ${row} of the table ${table} in the backup does not fit that table (${why})`);
}
