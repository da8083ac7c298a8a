import type { Deadlines } from "../../kernel/deadlines.ts";
import { isUnavailable } from "../../kernel/errors.ts";
import type { Connection } from "./connection.ts";
import type { Sql, Transaction } from "./database.ts";
import type { Pool } from "./pool.ts";
import { QueryJob } from "./query-job.ts";
import { type Run, sqlOver } from "./sql.ts";
import { isDenied, isDiskFull } from "./unavailable.ts";

/**
 *     begin ──► work ──► commit ──► answered "COMMIT": resolve
 *       │         │         └─────► answered "ROLLBACK" (`work` ignored a failed statement): reject
 *       │         └─ rejected ──► rollback ──► reject
 *       └─ the server is down or late ──► the connection is destroyed and the server rolls back
 */
export async function runTransaction<T>(
  pool: Pool,
  deadlines: Deadlines,
  work: (tx: Transaction) => Promise<T>,
  onError: (error: unknown) => void,
): Promise<T> {
  const connection = await pool.acquire(deadlines);
  let over = false;
  let firstError: unknown;
  const failed = (error: unknown): void => {
    firstError ??= error;
    onError(error);
  };
  const run: Run = (statement) => connection.run(new QueryJob(statement, deadlines, failed));
  const tx = transactionOver(async (statement) => {
    if (over) throw new Error("This transaction is over");
    return run(statement);
  });
  const command = (text: string) => run({ text, values: [] });
  try {
    await command("begin");
    const result = await work(tx);
    over = true;
    const answer = await command("commit");
    if (answer.command !== "COMMIT") throw firstError ?? new Error("The transaction was rolled back by the server");
    return result;
  } catch (error) {
    over = true;
    await abandon(connection, error, command);
    throw error;
  } finally {
    pool.giveBack(connection);
  }
}

async function abandon(
  connection: Connection,
  error: unknown,
  command: (text: string) => Promise<unknown>,
): Promise<void> {
  if (connection.ended) return;
  if (isUnavailable(error) && !isDiskFull(error) && !isDenied(error)) return connection.end(error);
  try {
    await command("rollback"); // After a failed COMMIT only a warning.
  } catch (rollbackError) {
    connection.end(rollbackError);
  }
}

function transactionOver(run: Run): Transaction {
  const sql = sqlOver(run);
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

/**
 * Closes the connection afterwards, so that settings and locks are not reused. Releases its locks first, because a pooler
 * may keep the backend.
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
