import { fileURLToPath } from "node:url";
import type { SchemaFiles } from "../engines/database/index.ts";

export const migrationsDir = fileURLToPath(new URL("../../migrations", import.meta.url));
export const ownSchema: SchemaFiles = {
  migrations: migrationsDir,
  functions: fileURLToPath(new URL("../features", import.meta.url)),
};

/**
 * Programs that do not know this migration refuse an upgraded database. Each version raises it to the last migration of
 * the version before, so that you can go back one version.
 */
export const oldestToKnow = "0006-providers.sql";
