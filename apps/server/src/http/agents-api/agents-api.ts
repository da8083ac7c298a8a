import type { FastifyInstance } from "fastify";
import type { Log } from "../../kernel/log.ts";
import { acceptEmptyBodies } from "../foundation/parse-json.ts";
import { refuseUnknownPaths } from "../foundation/refuse-unknown-paths.ts";
import { useAgentsDialect } from "./agents-dialect.ts";

export type AgentsRoutes = (app: FastifyInstance) => void;

export interface AgentsApiDeps {
  log: Log;
  routes: readonly AgentsRoutes[];
}

/** The agents platform under `/v1`, in its own error dialect. */
export async function agentsApi(app: FastifyInstance, { log, routes }: AgentsApiDeps): Promise<void> {
  await app.register(
    async (platform) => {
      useAgentsDialect(platform, log);
      refuseUnknownPaths(platform);
      acceptEmptyBodies(platform);
      await platform.register(async (scope) => {
        for (const add of routes) add(scope);
      });
    },
    { prefix: "/v1" },
  );
}
