import { fault, isUnavailable } from "./errors.ts";

/** While the database is full, an upload fails as if the file store were full: its row cannot be written. */
export function orDiskFull(error: unknown, databaseIsFull: boolean): unknown {
  if (!databaseIsFull || !isUnavailable(error)) return error;
  return fault("storage_full", "There is not enough disk space to store the file", { cause: error });
}
