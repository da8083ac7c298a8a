import type { Config } from "./config.ts";
import { loadOrCreateSigningCredentials } from "./engines/blobs/signing-credentials.ts";
import type { Database } from "./engines/database/index.ts";
import { aliveSeconds } from "./engines/vault/change-key.ts";
import type { Log } from "./kernel/log.ts";

/**
 * What tells file stores apart: a bucket's name, because its server may have several addresses, and of a folder the public
 * half of the key that lies in the same home and signs its links. Part of composing.
 */
export async function markOfStore(config: Pick<Config, "S3_ENDPOINT" | "S3_BUCKET" | "GANTRY_HOME">): Promise<string> {
  if (config.S3_ENDPOINT !== undefined) return `s3://${config.S3_BUCKET}`;
  return `folder:${(await loadOrCreateSigningCredentials(config.GANTRY_HOME)).accessKeyId}`;
}

/**
 * Refuses a node, which the others know already, where it keeps files in a bucket and they do not, or the other way round:
 * neither could read what the other accepts. Nodes with folders of their own may serve texts together, but are told.
 */
export async function joinWithStore(database: Database, nodeId: string, mark: string, log: Log): Promise<void> {
  // Before the look, so that of two who come at once at least one sees the other.
  await database.sql`update nodes set file_store = ${mark} where id = ${nodeId}`;
  const others = await database.sql<{ mark: string }[]>`
    select distinct file_store as mark from nodes where id <> ${nodeId} and file_store <> ${mark}
      and heartbeat_at > now() - make_interval(secs => ${aliveSeconds})`;
  if (others.length === 0) return;
  if ([mark, ...others.map((other) => other.mark)].every(isFolder)) {
    log.warn(
      "Another server works on this database with files in a GANTRY_HOME of its own: what is sent to one, the other does " +
        "not find. Set S3_ENDPOINT and the others of S3 everywhere, or share one GANTRY_HOME",
    );
    return;
  }
  await database.sql`delete from nodes where id = ${nodeId}`;
  throw new Error(
    `Another server works on this database and keeps its files in ${others.map(nameOf).join(" and in ")}, ` +
      `this one would in ${nameOf({ mark })}. All need the same S3_ENDPOINT and S3_BUCKET, or none of them; ` +
      `to change them, stop all servers first. A server that was killed counts for ${aliveSeconds} seconds more.`,
  );
}

const isFolder = (mark: string) => mark.startsWith("folder:");
const nameOf = ({ mark }: { mark: string }) => (isFolder(mark) ? "its GANTRY_HOME" : mark);
