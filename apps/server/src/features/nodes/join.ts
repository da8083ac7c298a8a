import type { Database } from "../../engines/database/database.ts";
import type { Log } from "../../kernel/log.ts";
import { beat, deadAfterSeconds, forgetNode, listOthers } from "./store.ts";

export interface Joining {
  database: Database;
  log: Log;
  nodeId: string;
  /** Proves which secret key a node works with, without revealing the key. */
  proofOf(nodeId: string): string;
  /** `folder:…` or the address of a bucket. */
  fileStore: string;
}

/** Adds the node, unless the nodes alive work with another secret key or another file store. */
export async function join({ database, log, nodeId, proofOf, fileStore }: Joining): Promise<void> {
  // Before the look, so that of two nodes that join at once at least one sees the other.
  await beat(database.sql, nodeId, { keyProof: proofOf(nodeId), fileStore });
  const others = await listOthers(database.sql, nodeId);
  const stores = [...new Set(others.flatMap((other) => other.fileStore ?? []))].filter((one) => one !== fileStore);
  const hasOtherKey = others.some(({ id, keyProof }) => keyProof !== null && keyProof !== proofOf(id));
  if (hasOtherKey) await refuse(otherKey);
  if (stores.length === 0) return;
  // Nodes with folders of their own can still serve texts together.
  if (![fileStore, ...stores].every(isFolder)) await refuse(otherStore(fileStore, stores));
  log.warn(otherFolder);

  async function refuse(why: string): Promise<never> {
    await forgetNode(database.sql, nodeId);
    throw new Error(`${why} A server that was killed counts for ${deadAfterSeconds} seconds more.`);
  }
}

/** Such a node could not open what the others seal, nor they what it seals. */
const otherKey =
  "Another server works on this database with another secret key. All need the right one: " +
  "set GANTRY_SECRET_KEY to it everywhere, or put the same file secret-key into every GANTRY_HOME.";

/** Neither could read the files that the other accepts. */
const otherStore = (own: string, others: readonly string[]) =>
  `Another server works on this database and keeps its files in ${others.map(nameOf).join(" and in ")}, ` +
  `this one would in ${nameOf(own)}. All need the same S3_ENDPOINT and S3_BUCKET, or none of them; ` +
  "to change them, stop all servers first.";

const otherFolder =
  "Another server works on this database with files in a GANTRY_HOME of its own: what is sent to one, the other does " +
  "not find. Set S3_ENDPOINT and the others of S3 everywhere, or share one GANTRY_HOME";

const isFolder = (mark: string) => mark.startsWith("folder:");
const nameOf = (mark: string) => (isFolder(mark) ? "its GANTRY_HOME" : mark);
