import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Caller } from "../../features/accounts/index.ts";
import type { Log } from "../../kernel/log.ts";
import { acceptEmptyBodies } from "../foundation/accept-empty-bodies.ts";
import { refuseUnknownPaths } from "../foundation/refuse-unknown-paths.ts";
import { requireCaller } from "../foundation/require-caller.ts";
import { useAgentsDialect } from "./agents-dialect.ts";

export type CallerOf = (request: FastifyRequest) => Promise<Caller>;

/** Adds routes of the agents platform; their paths are relative to `/v1`. */
export type AgentsRoutes = (app: FastifyInstance, callerOf: CallerOf) => void;

export interface AgentsApiDeps {
  log: Log;
  authenticate(presented: string): Promise<Caller>;
  routes: readonly AgentsRoutes[];
}

/** The agents platform under `/v1`, in its own error dialect. Every route needs a key. */
export async function agentsApi(app: FastifyInstance, { log, authenticate, routes }: AgentsApiDeps): Promise<void> {
  const callerOf = requireCaller(authenticate);
  await app.register(
    async (platform) => {
      useAgentsDialect(platform, log);
      refuseUnknownPaths(platform);
      acceptEmptyBodies(platform);
      await platform.register(async (behindKey) => {
        // Before the body is read: whoever has no key sends nothing that is looked at.
        behindKey.addHook("onRequest", async (request) => {
          await callerOf(request);
        });
        for (const add of routes) add(behindKey, callerOf);
      });
    },
    { prefix: "/v1" },
  );
}
