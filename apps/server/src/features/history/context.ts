import type { BlobStore } from "../../engines/blobs/blobs.ts";
import type { Database } from "../../engines/database/database.ts";
import type { Files } from "../files/index.ts";

export interface HistoryDeps {
  database: Database;
  blobs: BlobStore;
  files: Pick<Files, "addressOf">;
  /** The batches of predictions. */
  batchesAmong(predictionIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  linksOf(id: string, output: Record<string, unknown>, base: string): Promise<Record<string, unknown>>;
  /** A download link for an `s3://` address. */
  linkOf(s3Path: string, base: string): Promise<string>;
}
