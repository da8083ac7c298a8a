import type { Deadlines } from "../../kernel/deadlines.ts";
import type { Sql } from "./database.ts";
import { type Driver, sqlOver } from "./driver.ts";
import { QueryJob } from "./job.ts";
import type { Pool } from "./pool.ts";

/** The connection ends with the work: nobody finds settings or locks of before on one that is used again. */
export async function runSession<T>(
  pool: Pool,
  driver: Driver,
  deadlines: Deadlines,
  work: (sql: Sql) => Promise<T>,
  onError: (error: unknown) => void,
): Promise<T> {
  const connection = await pool.acquire(deadlines);
  try {
    return await work(sqlOver(driver, (query) => connection.run(new QueryJob(query, deadlines, onError))));
  } finally {
    await connection.close();
  }
}
