import { fileURLToPath } from "node:url";
import type { SchemaFiles } from "../engines/database/index.ts";

export const migrationsDir = fileURLToPath(new URL("../../migrations", import.meta.url));
export const ownSchema: SchemaFiles = {
  migrations: migrationsDir,
  functions: fileURLToPath(new URL("../features", import.meta.url)),
};

/**
 * A program that does not know this migration must not work on a database that this one has upgraded. To be raised with
 * each version, to the last migration of the version before: so going back one version works, and further does not.
 */
export const oldestToKnow = "0001-baseline.sql";
