import type { Database } from "../../engines/database/database.ts";
import { type ClusterFigures, selectClusterFigures } from "./store.ts";

export type { ClusterFigures };

/** Scrapes of several collectors in the same moment ask the database once. */
const keptMs = 1_000;

/** What the database knows of all nodes, and of this one. Rejects while the database is away. */
export function readClusterFigures(deps: { database: Database; nodeId: string }): () => Promise<ClusterFigures> {
  let kept: { at: number; figures: Promise<ClusterFigures> } | undefined;
  return () => {
    if (kept && performance.now() - kept.at < keptMs) return kept.figures;
    const figures = selectClusterFigures(deps.database.sql, deps.nodeId);
    kept = { at: performance.now(), figures };
    return figures;
  };
}
