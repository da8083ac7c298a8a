import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "../../apps/server/src/engines/database/index.ts";

interface Written {
  rows: number;
  transactions: number;
}

/** Sessions report their counts when idle, after ten seconds at the latest. */
const reportedAfterMs = 11_000;

/** Counts the writes of a server with an embedded PostgreSQL, including its background work. */
export async function rowsWritten(home: string): Promise<() => Promise<Written>> {
  const { password } = JSON.parse(await readFile(join(home, "postgres.json"), "utf8"));
  const port = (await readFile(join(home, "postgres", "postmaster.pid"), "utf8")).split("\n")[3];
  const database = connect({ url: `postgres://gantry:${password}@127.0.0.1:${port}/gantry`, poolSize: 1 });
  async function count(): Promise<Written> {
    await sleep(reportedAfterMs);
    const [row] = await database.sql<Written[]>`
      select xact_commit as transactions, tup_inserted + tup_updated + tup_deleted as rows
      from pg_stat_database where datname = current_database()`;
    if (!row) throw new Error("the database has no statistics");
    return row;
  }
  const before = await count();
  return async () => {
    const after = await count();
    await database.close();
    return { rows: after.rows - before.rows, transactions: after.transactions - before.transactions };
  };
}
