import type { BlobStore } from "../../engines/blobs/blobs.ts";
import type { Database } from "../../engines/database/database.ts";
import type { Clock } from "../../kernel/clock.ts";
import { type Fault, fault } from "../../kernel/errors.ts";

export interface DrivesDeps {
  database: Database;
  blobs: BlobStore;
  clock: Clock;
  /** What a user may store where the plan does not say it; left out or 0: no quota. */
  storageBytesPerUser?: number;
  /** The owner's agents whose published or latest revision uses the drive. */
  agentsUsingDrive(ownerId: string, driveId: string): Promise<readonly { id: string; name: string }[]>;
}

export interface Drive {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly createdAt: Date;
}

/** Where something stands. The path is normalised by whoever takes it. */
export interface Place {
  readonly ownerId: string;
  readonly driveId: string;
  readonly path: string;
}

export interface DriveFile {
  readonly path: string;
  readonly size: number;
  readonly contentType: string;
  /** Names this version of the content. */
  readonly etag: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/**
 * Throws where the version that stands (its etag; undefined where no file stands) is not one that the caller wants to
 * change. Called again under the lock of the drive: what it lets pass there is what is changed.
 */
export type Precondition = (standing: string | undefined) => void;

/** A directory is there as long as a file lies below it; an empty one does not exist, except for the root. */
export type Item = { path: string; type: "file"; size: number } | { path: string; type: "directory" };

export interface Page {
  limit: number;
  offset: number;
}

export const driveNotFound = (): Fault => fault("not_found", "Drive not found");
export const fileNotFound = (): Fault => fault("not_found", "File not found");
export const directoryNotFound = (): Fault => fault("not_found", "Directory not found");
