import { readPostmasterFile } from "./cluster.ts";
import { connect } from "./connect.ts";
import type { Database } from "./database.ts";
import { refuseHomeOfAnother } from "./home-owner.ts";
import { readRecord } from "./server-record.ts";

/** What the server shows of the connections of an operator's tool. */
export const toolName = "gantry-tool";
/** A backup keeps the key and the schema as they are, while it reads: three transactions at once. */
export const toolPoolSize = 3;

/**
 * A second way into the embedded database of a home, for an operator's tool beside the server that owns it: connects,
 * and neither starts nor stops anything. Undefined when no PostgreSQL of that home runs.
 */
export async function attachEmbeddedDatabase(home: string): Promise<Database | undefined> {
  // Root reads beside any owner: nothing is made here.
  if (process.getuid?.() !== 0) await refuseHomeOfAnother(home);
  const record = await readRecord(home);
  const server = record && (await readPostmasterFile(record));
  if (server?.status !== "ready" || !record) return undefined;
  const url = `postgres://gantry:${record.password}@127.0.0.1:${server.port}/gantry`;
  const database = connect({ url, poolSize: toolPoolSize, applicationName: toolName });
  // The file of a server that was killed looks like that of one that runs.
  if (await database.ready()) return database;
  await database.close();
  return undefined;
}
