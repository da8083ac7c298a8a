import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The npm package contains compiled code. A checkout runs its TypeScript. */
export const isPackaged = import.meta.url.endsWith(".js");

const from = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const checkout = from("../../../..");

/** A relative GANTRY_HOME starts here. */
export const baseFolder = isPackaged ? process.cwd() : checkout;

/** A package keeps no data in its own folder, which an update deletes. */
export const defaultHome = isPackaged ? "~/.gantry" : ".gantry";

export const consoleFolder = isPackaged ? from("../../console") : join(checkout, "apps", "console", "dist");

/** The package.json with the version. */
export const manifestFile = isPackaged ? from("../../package.json") : join(checkout, "package.json");

/** How users start the `gantry` command. In a checkout npx finds it by its short name. */
export const commandName = isPackaged ? "npx @gantry/cli" : "npx gantry";

/** Where Node keeps compiled code between starts. */
export function compileCacheFolder({ XDG_CACHE_HOME }: NodeJS.ProcessEnv): string {
  if (!isPackaged) return join(checkout, "node_modules", ".cache", "gantry");
  return join(XDG_CACHE_HOME || join(homedir(), ".cache"), "gantry", "compiled");
}
