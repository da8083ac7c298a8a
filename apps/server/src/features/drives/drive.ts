import type { BlobStore } from "../../engines/blobs/blobs.ts";
import type { Database } from "../../engines/database/database.ts";
import type { Clock } from "../../kernel/clock.ts";
import { type Fault, fault } from "../../kernel/errors.ts";

export interface DrivesDeps {
  database: Database;
  blobs: BlobStore;
  clock: Clock;
  /** Default quota for plans without one; omitted or 0: unlimited. */
  storageBytesPerUser?: number;
  /** Agents of the owner whose published or latest revision uses the drive. */
  agentsUsingDrive(ownerId: string, driveId: string): Promise<readonly { id: string; name: string }[]>;
}

export interface Drive {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly createdAt: Date;
}

/** The path is not normalised yet. */
export interface Location {
  readonly ownerId: string;
  readonly driveId: string;
  readonly path: string;
}

export interface DriveFile {
  readonly path: string;
  readonly size: number;
  readonly contentType: string;
  readonly etag: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Throws if the caller does not want to change this version (etag; undefined: no file). Called under the drive's lock. */
export type Precondition = (current: string | undefined) => void;

/** A directory exists while it contains a file. The root always exists. */
export type Item = { path: string; type: "file"; size: number } | { path: string; type: "directory" };

export interface Page {
  limit: number;
  offset: number;
}

export const driveNotFound = (): Fault => fault("not_found", "Drive not found");
export const fileNotFound = (): Fault => fault("not_found", "File not found");
export const directoryNotFound = (): Fault => fault("not_found", "Directory not found");
