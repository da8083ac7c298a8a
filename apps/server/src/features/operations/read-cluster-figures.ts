import type { Database } from "../../engines/database/database.ts";
import { type ClusterFigures, selectClusterFigures } from "./store.ts";

export type { ClusterFigures };

/** What the database knows of all nodes, and of this one. Rejects while the database is away. */
export function readClusterFigures(deps: { database: Database; nodeId: string }): () => Promise<ClusterFigures> {
  // Scrapes in the same moment ask the database once.
  let underWay: Promise<ClusterFigures> | undefined;
  return () => {
    underWay ??= selectClusterFigures(deps.database.sql, deps.nodeId).finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
}
