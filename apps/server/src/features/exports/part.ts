import type { Readable } from "node:stream";
import type { Caller } from "../accounts/index.ts";

/** Whose data is exported, and how. */
export interface ExportSubject {
  /** The owner with all rights over its own data, also if an admin asks. */
  caller: Caller;
  /** Who asked for the export. */
  personId: string;
  /** Base of links. */
  base: string;
  /** Contents of files too, not only their lists. */
  withFiles: boolean;
}

export interface ExportedRecord {
  /** A list of the part. */
  list: string;
  record: object;
}

export interface ExportedContent {
  /** Segments of its path in the archive, as users chose them. */
  path: readonly string[];
  /** Undefined if it was deleted meanwhile. The reader consumes or destroys the body. */
  open(): Promise<{ size: number; body: Readable } | undefined>;
}

/** What one feature has of a user. */
export interface ExportPart {
  /** Lists of the archive, each with a sentence for its README. */
  lists: Readonly<Record<string, string>>;
  /** Read as fast as the client receives. */
  read(subject: ExportSubject): AsyncIterable<ExportedRecord | ExportedContent>;
}
