import type { BlobStore } from "../../engines/blobs/blobs.ts";
import type { Database } from "../../engines/database/database.ts";
import type { Clock } from "../../kernel/clock.ts";

export interface FilesDeps {
  database: Database;
  blobs: BlobStore;
  clock: Clock;
  /** Of one upload, direct or by link. */
  maxUploadBytes: number;
  /** Default quota for plans without one; omitted or 0: unlimited. */
  storageBytesPerUser?: number;
}

export const defaultMaxUploadBytes = 500 * 1024 * 1024;

/** Lifetime of upload and download links. */
export const linkSeconds = 86_400;

/** Response of every storage route. */
export interface PresignedUrl {
  url: string;
  method: "GET" | "PUT";
  file_input: Record<string, string | number> | null;
}
