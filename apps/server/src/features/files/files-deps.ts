import type { BlobStore } from "../../engines/blobs/blobs.ts";
import type { Database } from "../../engines/database/database.ts";
import type { Clock } from "../../kernel/clock.ts";

export interface FilesDeps {
  database: Database;
  blobs: BlobStore;
  clock: Clock;
  /** What one upload may bring, by either way. */
  maxUploadBytes: number;
  /** What one user may store where the plan does not say it; left out or 0: as much as the store holds. */
  storageBytesPerUser?: number;
}

export const defaultMaxUploadBytes = 500 * 1024 * 1024;

/** How long every link lives, for upload and for download. */
export const linkSeconds = 86_400;

/** The record that every storage route answers with. */
export interface PresignedUrl {
  url: string;
  method: "GET" | "PUT";
  file_input: Record<string, string | number> | null;
}
