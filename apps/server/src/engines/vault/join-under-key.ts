import { createHmac } from "node:crypto";
import type { Database } from "../database/database.ts";
import { aliveSeconds } from "./change-key.ts";

/** What proves which key a node works with, and tells nothing of it. */
export type KeyProof = (nodeId: string) => string;

export function keyProofs(key: Uint8Array): KeyProof {
  return (nodeId) => createHmac("sha256", key).update(`node:${nodeId}`).digest("base64url");
}

/**
 * Makes a node known by its secret key, and refuses one whose key is not that of the others: it could open nothing of
 * what they seal, and they nothing of its.
 */
export async function joinUnderKey(database: Database, nodeId: string, proofOf: KeyProof): Promise<void> {
  // Before the look, so that of two who come at once at least one sees the other.
  await database.sql`insert into nodes (id, key_proof) values (${nodeId}, ${proofOf(nodeId)})`;
  const others = await database.sql<{ id: string; proof: string }[]>`
    select id, key_proof as proof from nodes where id <> ${nodeId} and key_proof is not null
      and heartbeat_at > now() - make_interval(secs => ${aliveSeconds})`;
  if (others.every(({ id, proof }) => proof === proofOf(id))) return;
  await database.sql`delete from nodes where id = ${nodeId}`;
  throw new Error(
    "Another server works on this database with another secret key. All need the right one: " +
      "set GANTRY_SECRET_KEY to it everywhere, or put the same file secret-key into every GANTRY_HOME. " +
      `A server that was killed counts for ${aliveSeconds} seconds more.`,
  );
}
