import { createHmac } from "node:crypto";
import type { Database } from "../database/database.ts";
import { aliveSeconds } from "./change-key.ts";

/**
 * Makes a node known by its secret key, and refuses one whose key is not that of the others: it could open nothing of
 * what they seal, and they nothing of its.
 */
export async function joinUnderKey(database: Database, nodeId: string, key: Uint8Array): Promise<void> {
  const proofOf = (node: string) => createHmac("sha256", key).update(`node:${node}`).digest("base64url");
  // Before the look, so that of two who come at once at least one sees the other.
  await database.sql`insert into nodes (id, key_proof) values (${nodeId}, ${proofOf(nodeId)})`;
  const others = await database.sql<{ id: string; proof: string }[]>`
    select id, key_proof as proof from nodes where id <> ${nodeId} and key_proof is not null
      and heartbeat_at > now() - make_interval(secs => ${aliveSeconds})`;
  if (others.every(({ id, proof }) => proof === proofOf(id))) return;
  await database.sql`delete from nodes where id = ${nodeId}`;
  throw new Error(
    "Another server works on this database with another secret key. All need the same one: " +
      "set GANTRY_SECRET_KEY everywhere, or copy the file secret-key of that server's GANTRY_HOME into this one's.",
  );
}
