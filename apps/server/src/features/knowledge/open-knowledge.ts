import { type DriveIndexRecord, type IndexFileStatus, isId } from "@gantry/wire";
import type { Caller } from "../accounts/index.ts";
import { driveNotFound, type WithinDrive } from "../drives/index.ts";
import { embedQuery, mostQueryCost, type QueryOptions } from "./embed.ts";
import { startIndexing } from "./indexing/start-indexing.ts";
import type { KnowledgeDeps } from "./knowledge.ts";
import { prepareIndex, rebuildIndex } from "./settings.ts";
import { type IndexFile, selectIndexFiles, selectIndexRecords } from "./store.ts";

/** Indexes of drives: the text of their files in chunks, for search. */
export interface Knowledge {
  /** Checks the settings, and returns the change for the transaction that creates or changes the drive. null: no index. */
  prepareIndex(caller: Caller, index: { embedding_model: string | null } | null): Promise<WithinDrive>;
  /** The state of the drives' indexes, by drive. */
  readIndexes(ownerId: string, driveIds: readonly string[]): Promise<ReadonlyMap<string, DriveIndexRecord>>;
  listFiles(
    ownerId: string,
    driveId: string,
    query: { status?: IndexFileStatus | undefined; limit: number; offset: number },
  ): Promise<{ files: IndexFile[]; total: number }>;
  rebuild(caller: Caller, driveId: string): Promise<void>;
  /** The vector of a query, to compare with the chunks of the index's generation. Undefined if the drive has no vectors. */
  embedQuery(driveId: string, text: string, options: QueryOptions): Promise<Float32Array | undefined>;
  /** The largest charge of a query to the caller, in micros. */
  mostQueryCost(driveId: string, text: string, caller: Caller): Promise<number>;
  /** Indexes nothing more. */
  stop(): Promise<void>;
}

export async function openKnowledge(deps: KnowledgeDeps): Promise<Knowledge> {
  const { database } = deps;
  const indexing = await startIndexing(deps);
  return {
    prepareIndex: (caller, index) => prepareIndex(deps, caller, index),
    readIndexes: (ownerId, driveIds) => selectIndexRecords(database.sql, ownerId, driveIds),
    listFiles: (ownerId, driveId, query) => selectIndexFiles(database.sql, { ownerId, driveId }, query),
    async rebuild(caller, driveId) {
      if (!isId("drive", driveId)) throw driveNotFound();
      await rebuildIndex(database, caller, driveId);
    },
    embedQuery: (driveId, text, options) => embedQuery(deps, driveId, text, options),
    mostQueryCost: (driveId, text, caller) => mostQueryCost(deps, driveId, text, caller),
    stop: indexing.stop,
  };
}
