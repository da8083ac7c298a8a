import type { Database } from "../../engines/database/database.ts";
import { type ClusterFigures, selectClusterFigures } from "./store.ts";

export type { ClusterFigures };

/** Rejects while the database is unavailable. Concurrent scrapes share one query. */
export function readClusterFigures(deps: { database: Database; nodeId: string }): () => Promise<ClusterFigures> {
  let pending: Promise<ClusterFigures> | undefined;
  return () => {
    pending ??= selectClusterFigures(deps.database.sql, deps.nodeId).finally(() => {
      pending = undefined;
    });
    return pending;
  };
}
