import type { Database } from "../../engines/database/database.ts";
import type { Log } from "../../kernel/log.ts";
import { beat, deadAfterSeconds, forgetNode, listOthers } from "./store.ts";

export interface Joining {
  database: Database;
  log: Log;
  nodeId: string;
  /** Proves which secret key a node uses, without revealing it. */
  proofOf(nodeId: string): string;
  /** `folder:…` or the address of a bucket. */
  fileStore: string;
}

/** Adds the node, unless nodes alive use another secret key or another file store. */
export async function join({ database, log, nodeId, proofOf, fileStore }: Joining): Promise<void> {
  // First, so that of two nodes that join at the same time at least one sees the other.
  await beat(database.sql, nodeId, { keyProof: proofOf(nodeId), fileStore });
  const others = await listOthers(database.sql, nodeId);
  const stores = [...new Set(others.flatMap((other) => other.fileStore ?? []))].filter((one) => one !== fileStore);
  const hasOtherKey = others.some(({ id, keyProof }) => keyProof !== null && keyProof !== proofOf(id));
  if (hasOtherKey) await refuse(otherKey);
  if (stores.length === 0) return;
  // Nodes with separate folders can still serve models without files.
  if (![fileStore, ...stores].every(isFolder)) await refuse(otherStore(fileStore, stores));
  log.warn(otherFolder);

  async function refuse(why: string): Promise<never> {
    await forgetNode(database.sql, nodeId);
    throw new Error(`${why} A killed server counts for ${deadAfterSeconds} more seconds.`);
  }
}

/** Neither node could open secrets that the other has sealed. */
const otherKey =
  "Another server uses this database with another secret key. All servers need the same key: " +
  "set GANTRY_SECRET_KEY on all of them, or copy the file secret-key into every GANTRY_HOME.";

/** Neither node could read files that the other has accepted. */
const otherStore = (own: string, others: readonly string[]) =>
  `Another server uses this database and stores files in ${others.map(nameOf).join(" and in ")}; ` +
  `this one would use ${nameOf(own)}. Set the same S3_BUCKET and S3_ENDPOINT on all servers, or on none. ` +
  "To change them, stop all servers first.";

const otherFolder =
  "Another server uses this database with files in its own GANTRY_HOME. Neither server finds files sent to the other. " +
  "Set S3_BUCKET and the other S3 settings on all servers, or share one GANTRY_HOME.";

const isFolder = (mark: string) => mark.startsWith("folder:");
const nameOf = (mark: string) => (isFolder(mark) ? "its GANTRY_HOME" : mark);
