import { homedir } from "node:os";
import { join } from "node:path";

/** For what can be downloaded or made again. */
export function cacheFolder({ XDG_CACHE_HOME }: NodeJS.ProcessEnv): string {
  return join(XDG_CACHE_HOME || join(homedir(), ".cache"), "gantry");
}
