import { adminKey } from "../gantry.ts";
import { type Served, serve } from "../processes.ts";
import type { Dimension } from "./dimension.ts";

export function serveHome(home: string, { env }: Dimension): Promise<Served> {
  return serve(new URL("../../../apps/server/src/main.ts", import.meta.url), {
    GANTRY_HOME: home,
    GANTRY_ADMIN_KEY: adminKey,
    GANTRY_ALLOW_PRIVATE_NETWORK: "1",
    GANTRY_LOG_LEVEL: "warn",
    GANTRY_FIND_MODELS: "0",
    GANTRY_PROCESSES: "1",
    PORT: "0",
    ...env,
  });
}
