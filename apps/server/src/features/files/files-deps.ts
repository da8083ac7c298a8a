import type { BlobStore } from "../../engines/blobs/blobs.ts";
import type { Database } from "../../engines/database/database.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { FileOrigin, FileState } from "./store.ts";

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

/** Beyond a link's life there is an hour for the upload that began in its last second. */
export const patienceMillis = (linkSeconds + 3600) * 1000;

/** Until when bytes may come that are not there, or others for those that are. */
export function mayArriveUntil(row: { origin: FileOrigin; state: FileState; createdAt: Date }): Date {
  const isOpen = row.origin === "link" || row.state === "awaiting";
  return new Date(isOpen ? row.createdAt.getTime() + patienceMillis : 0);
}

/** The record that every storage route answers with. */
export interface PresignedUrl {
  url: string;
  method: "GET" | "PUT";
  file_input: Record<string, string | number> | null;
}
