import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { attachEmbeddedDatabase, toolName, toolPoolSize } from "../engines/database/embedded.ts";
import { refuseForeignHome } from "../engines/database/home-owner.ts";
import { connectExternalDatabase, type Database, startEmbeddedDatabase } from "../engines/database/index.ts";

export interface OperateOptions {
  config: Config;
  /** Prints a line for the operator. */
  say(text: string): void;
}

/** Works beside a running server. An embedded database that is not running is started. */
export async function openExisting({ config, say }: OperateOptions): Promise<Database> {
  if (config.DATABASE_URL !== undefined) {
    return connectExternalDatabase({ url: config.DATABASE_URL, poolSize: toolPoolSize, applicationName: toolName });
  }
  const home = config.GANTRY_HOME;
  await refuseWithoutHome(home);
  return (await attachEmbeddedDatabase(home)) ?? startOwn({ config, say });
}

export function startOwn({ config, say }: OperateOptions): Promise<Database> {
  return startEmbeddedDatabase({
    home: config.GANTRY_HOME,
    programs: config.GANTRY_POSTGRES_BIN,
    onProgress: say,
    onWarning: say,
  });
}

export async function refuseWithoutHome(home: string): Promise<void> {
  try {
    await stat(join(home, "postgres.json"));
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (["ENOENT", "ENOTDIR"].includes(code)) {
      throw new Error(`${home} does not contain Gantry data. Set GANTRY_HOME or DATABASE_URL.`);
    }
    // The folder may exist but belong to another user.
    await refuseForeignHome(home);
    throw error;
  }
}
