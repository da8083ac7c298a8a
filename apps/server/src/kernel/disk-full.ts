import { Fault, fault } from "./errors.ts";

/**
 * A file whose bytes would fit but of which nothing can be written down cannot be stored either: while the database is
 * full, an upload is refused for the same reason as where the bytes do not fit.
 */
export function orDiskFull(error: unknown, databaseIsFull: boolean): unknown {
  if (!databaseIsFull || !(error instanceof Fault) || error.type !== "service_unavailable") return error;
  return fault("storage_full", "There is no room left to store the file", { cause: error });
}
