import type { Deadlines } from "../../kernel/deadlines.ts";
import type { Sql } from "./database.ts";
import type { Pool } from "./pool.ts";
import { QueryJob } from "./query-job.ts";
import { sqlOver } from "./sql.ts";

/**
 * The connection ends with the work: nobody finds settings or locks of before on one that is used again. Its locks are
 * given back before, as a pooler may keep the server's side of it.
 */
export async function runSession<T>(
  pool: Pool,
  deadlines: Deadlines,
  work: (sql: Sql) => Promise<T>,
  onError: (error: unknown) => void,
  closing: Deadlines,
): Promise<T> {
  const connection = await pool.acquire(deadlines);
  const sqlWithin = (limit: Deadlines) =>
    sqlOver((statement) => connection.run(new QueryJob(statement, limit, onError)));
  try {
    return await work(sqlWithin(deadlines));
  } finally {
    if (connection.idle)
      await sqlWithin(closing)
        .unsafe("select pg_advisory_unlock_all()")
        .catch(() => undefined);
    await connection.close();
  }
}
