import type { Deadlines } from "../../kernel/deadlines.ts";
import type { Connection } from "./connection.ts";
import type { Transaction } from "./database.ts";
import { type Driver, type DriverQuery, sqlOver } from "./driver.ts";
import { QueryJob } from "./job.ts";
import type { Pool } from "./pool.ts";
import { isDenied, isDiskFull, isUnavailable } from "./unavailable.ts";

/**
 *     begin ──► work ──► commit ──► answered "COMMIT": resolve
 *       │         │         └─────► answered "ROLLBACK" (a statement had failed and work did not say): reject
 *       │         └─ rejected ──► rollback ──► reject
 *       └─ at any point the server is away or late ──► the connection is destroyed, the server rolls back by itself
 */
export async function runTransaction<T>(
  pool: Pool,
  driver: Driver,
  deadlines: Deadlines,
  work: (tx: Transaction) => Promise<T>,
  onError: (error: unknown) => void,
): Promise<T> {
  const connection = await pool.acquire(deadlines);
  let over = false;
  let firstError: unknown;
  const run = (query: DriverQuery): void =>
    connection.run(
      new QueryJob(query, deadlines, (error) => {
        firstError ??= error;
        onError(error);
      }),
    );
  const tx = transactionOver(driver, (query) => {
    if (over) query.reject(new Error("This transaction is over"));
    else run(query);
  });
  const statement = (text: string): Promise<{ command: string }> => {
    const query = driver.unsafe(text) as unknown as DriverQuery;
    query.handler = run;
    return query;
  };
  try {
    await statement("begin");
    const result = await work(tx);
    over = true;
    const { command } = await statement("commit");
    if (command !== "COMMIT") throw firstError ?? new Error("The transaction was rolled back by the server");
    return result;
  } catch (error) {
    over = true;
    await abandon(connection, error, statement);
    throw error;
  } finally {
    pool.giveBack(connection);
  }
}

async function abandon(
  connection: Connection,
  error: unknown,
  statement: (text: string) => Promise<unknown>,
): Promise<void> {
  if (connection.ended) return;
  if (isUnavailable(error) && !isDiskFull(error) && !isDenied(error)) return connection.end(error);
  try {
    await statement("rollback"); // outside a transaction (after a COMMIT that failed) only a warning
  } catch (rollbackError) {
    connection.end(rollbackError);
  }
}

function transactionOver(driver: Driver, dispatch: (query: DriverQuery) => void): Transaction {
  const sql = sqlOver(driver, dispatch);
  let savepoints = 0;
  const tx: Transaction = Object.assign(sql, {
    async savepoint<T>(work: (inner: Transaction) => Promise<T>): Promise<T> {
      const name = `s${savepoints++}`;
      await sql.unsafe(`savepoint ${name}`);
      try {
        const result = await work(tx);
        await sql.unsafe(`release savepoint ${name}`);
        return result;
      } catch (error) {
        if (!isUnavailable(error)) await sql.unsafe(`rollback to savepoint ${name}`);
        throw error;
      }
    },
  });
  return tx;
}
