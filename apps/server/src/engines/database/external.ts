import { type ConnectOptions, connect, connectOwn } from "./connect.ts";
import type { OpenedDatabase, Sql } from "./database.ts";
import { connectionsWarning, type ServerFacts, unfitReason, versionWarning } from "./server-facts.rules.ts";
import { readTls } from "./tls.ts";

export interface ExternalOptions
  extends Pick<ConnectOptions, "poolSize" | "deadlineMs" | "applicationName" | "onTrouble"> {
  /** DATABASE_URL: `postgres://user:password@host:port/database?sslmode=...` */
  url: string;
  /** Connections of all processes of this server. */
  connections?: number | undefined;
}

const advice = "Raise max_connections or lower GANTRY_PROCESSES.";

/** The driver reads these differently from libpq. */
const tlsSettings = ["sslmode", "sslrootcert", "sslcert", "sslkey"];

/**
 * `sslmode` works as in libpq: disable, prefer, require (encrypted; verified only with an `sslrootcert`), verify-ca and
 * verify-full (verified against `sslrootcert` or the system's authorities). Rejects if the server cannot be used. Later,
 * lost connections are reopened.
 */
export async function connectExternalDatabase({
  url,
  connections = 0,
  ...pool
}: ExternalOptions): Promise<OpenedDatabase> {
  const address = parse(url);
  const tls = await readTls(address);
  for (const name of tlsSettings) address.searchParams.delete(name);
  const options = { ...pool, url: address.toString(), tls };
  const database = connectOwn(options);
  try {
    const facts = await askFacts(database.sql);
    const unfit = unfitReason(facts);
    if (unfit !== undefined) throw new Error(unfit);
    await refusePooler(options);
    const warnings = [versionWarning(facts), connectionsWarning(facts.connections, connections, advice)];
    for (const warning of warnings) if (warning !== undefined) pool.onTrouble?.(warning);
    return database;
  } catch (error) {
    await database.close();
    throw new Error(`The database at ${address.host || "the usual address"} cannot be used: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

/** Without parameters, because nothing may be prepared through a pooler in transaction mode. */
async function askFacts(sql: Sql): Promise<ServerFacts> {
  const [facts] = await sql.unsafe<ServerFacts[]>(`
    select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding,
      current_schema() as schema, current_user as role, current_database() as database,
      current_setting('max_connections')::int as connections`);
  if (!facts) throw new Error("the server does not describe itself");
  return facts;
}

function parse(url: string): URL {
  const address = URL.parse(url);
  if (address?.protocol === "postgres:" || address?.protocol === "postgresql:") return address;
  throw new Error("DATABASE_URL must have the form postgres://user:password@host:port/database");
}

function reasonOf(error: unknown): string {
  const root = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (root instanceof AggregateError) return root.errors.map(reasonOf).join(", ");
  return root instanceof Error ? root.message : String(root);
}

/** Unprepared statements only. */
export type Unprepared = Pick<Sql, "unsafe">;

const refusal =
  "The connection goes through a pooler in transaction or statement mode. Set the pooler to session mode, or connect without it.";

/** Notifications, prepared statements and the migration lock need a session. */
export async function refusePooler(options: ConnectOptions): Promise<void> {
  const two = connect({ ...options, poolSize: 2 });
  try {
    await two.session((first) => two.session((second) => requireSessions(first, second)));
  } finally {
    await two.close();
  }
}

/**
 * Each connection must keep its own backend. A pooler in another mode gives both the same one, or moves a connection to
 * another backend while the second connection holds one in a transaction.
 */
export async function requireSessions(first: Unprepared, second: Unprepared): Promise<void> {
  const own = await backendOf(first);
  if ((await backendOf(first)) !== own || (await backendOf(second)) === own) throw new Error(refusal);
  await second.unsafe("begin").catch((error: Error) => {
    const reason = error.cause instanceof Error ? error.cause.message : error.message;
    throw /statement pooling/i.test(reason) ? new Error(refusal, { cause: error }) : error;
  });
  const isMoved = (await backendOf(second)) === own || (await backendOf(first)) !== own;
  await second.unsafe("rollback");
  if (isMoved) throw new Error(refusal);
}

async function backendOf(sql: Unprepared): Promise<number | undefined> {
  const [row] = await sql.unsafe<{ pid: number }[]>("select pg_backend_pid() as pid");
  return row?.pid;
}
