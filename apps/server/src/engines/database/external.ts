import { type ConnectOptions, connect, connectOwn } from "./connect.ts";
import type { OpenedDatabase, Sql } from "./database.ts";
import { type ServerFacts, whyDoubtful, whyUnfit } from "./server-facts.rules.ts";
import { readTls } from "./tls.ts";

export interface ExternalOptions
  extends Pick<ConnectOptions, "poolSize" | "deadlineMs" | "applicationName" | "onTrouble"> {
  /** DATABASE_URL: `postgres://user:password@host:port/database?sslmode=...` */
  url: string;
}

/** Read here: the driver understands them otherwise than libpq does. */
const tlsSettings = ["sslmode", "sslrootcert", "sslcert", "sslkey"];

/**
 * Connects to a PostgreSQL that someone else runs. `sslmode` as libpq has it: disable, prefer, require (encrypted, and
 * checked only if there is an `sslrootcert`), verify-ca, verify-full (checked against `sslrootcert`, or the system's
 * authorities). Rejects when the server does not answer, with the reason; afterwards connections are made anew whenever they are lost.
 */
export async function connectExternalDatabase({ url, ...pool }: ExternalOptions): Promise<OpenedDatabase> {
  const address = parse(url);
  const tls = await readTls(address);
  for (const name of tlsSettings) address.searchParams.delete(name);
  const options = { ...pool, url: address.toString(), tls };
  const database = connectOwn(options);
  try {
    const facts = await askFacts(database.sql);
    const unfit = whyUnfit(facts);
    if (unfit !== undefined) throw new Error(unfit);
    await refusePooler(options);
    const doubt = whyDoubtful(facts);
    if (doubt !== undefined) pool.onTrouble?.(doubt);
    return database;
  } catch (error) {
    await database.close();
    throw new Error(`The database at ${address.host || "the usual address"} cannot be used: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

/** Without parameters: nothing is prepared before it is known that a connection is a session. */
async function askFacts(sql: Sql): Promise<ServerFacts> {
  const [facts] = await sql.unsafe<ServerFacts[]>(`
    select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding,
      current_schema() as schema, current_user as role, current_database() as database`);
  if (!facts) throw new Error("it says nothing of itself");
  return facts;
}

function parse(url: string): URL {
  const address = URL.parse(url);
  if (address?.protocol === "postgres:" || address?.protocol === "postgresql:") return address;
  throw new Error("DATABASE_URL is not of the form postgres://user:password@host:port/database");
}

function reasonOf(error: unknown): string {
  const root = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (root instanceof AggregateError) return root.errors.map(reasonOf).join(", ");
  return root instanceof Error ? root.message : String(root);
}

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
