import { type ConnectOptions, connect } from "./connect.ts";
import type { Sql } from "./database.ts";

/** What the proof needs of a connection: texts without parameters, for which nothing is prepared. */
export type Asked = Pick<Sql, "unsafe">;

const refusal =
  "A pooler in transaction or statement mode stands before this database: Gantry needs one in session mode, or none";

/** Notifications, prepared statements and the lock of migrations belong to a session: without one they are lost. */
export async function refusePooler(options: ConnectOptions): Promise<void> {
  const two = connect({ ...options, poolSize: 2 });
  try {
    await two.session((first) => two.session((second) => proveSessions(first, second)));
  } finally {
    await two.close();
  }
}

/**
 * Two connections, each with a backend of its own for as long as it is open. A pooler that hands backends out for less
 * gives both the same one, or, when the other keeps one for itself, another than before: whether it takes the one that
 * was used last or the one that has rested longest.
 */
export async function proveSessions(first: Asked, second: Asked): Promise<void> {
  const own = await backendOf(first);
  if ((await backendOf(first)) !== own || (await backendOf(second)) === own) throw new Error(refusal);
  await second.unsafe("begin").catch((error: Error) => {
    const said = error.cause instanceof Error ? error.cause.message : error.message;
    throw /statement pooling/i.test(said) ? new Error(refusal, { cause: error }) : error;
  });
  const isMoved = (await backendOf(second)) === own || (await backendOf(first)) !== own;
  await second.unsafe("rollback");
  if (isMoved) throw new Error(refusal);
}

async function backendOf(sql: Asked): Promise<number | undefined> {
  const [row] = await sql.unsafe<{ pid: number }[]>("select pg_backend_pid() as pid");
  return row?.pid;
}
