import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Served, serve } from "./processes.ts";

export const adminKey = "bench-admin-key-0123456789-0123456789";

export interface ServedGantry extends Served {
  home: string;
  putModel(name: string, manifest: object): Promise<void>;
}

/** A server with an embedded database. Stopping it removes its home. */
export async function serveGantry(env: Record<string, string> = {}): Promise<ServedGantry> {
  const home = await mkdtemp(join(tmpdir(), "gantry-bench-"));
  const served = await serve(new URL("../../apps/server/src/main.ts", import.meta.url), {
    GANTRY_HOME: home,
    GANTRY_ADMIN_KEY: adminKey,
    GANTRY_ALLOW_PRIVATE_NETWORK: "1",
    GANTRY_LOG_LEVEL: "warn",
    GANTRY_FIND_MODELS: "0",
    PORT: "0",
    ...env,
  });
  return {
    ...served,
    home,
    async putModel(name, manifest) {
      const response = await fetch(`http://127.0.0.1:${served.port}/api/v1/admin/${name}`, {
        method: "PUT",
        headers: { "x-api-key": adminKey, "content-type": "application/json" },
        body: JSON.stringify(manifest),
      });
      if (!response.ok) throw new Error(await response.text());
    },
    async stop() {
      await served.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
}
