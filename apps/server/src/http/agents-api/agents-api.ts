import type { FastifyInstance, FastifyRequest } from "fastify";
import FindMyWay from "find-my-way";
import type { Caller } from "../../features/accounts/index.ts";
import { fault } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { acceptEmptyBodies } from "../foundation/accept-empty-bodies.ts";
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

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

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

/** As the server does for all other paths: a wrong method is told apart from a wrong path, here in this dialect. */
function refuseUnknownPaths(platform: FastifyInstance): void {
  const known = FindMyWay({ ignoreTrailingSlash: true, maxParamLength: 2048 });
  platform.addHook("onRoute", ({ method, url }) => {
    for (const one of [method].flat()) if (!known.hasRoute(one as "GET", url)) known.on(one as "GET", url, () => {});
  });
  platform.setNotFoundHandler((request) => {
    const [path = ""] = request.url.split("?", 1);
    const allowed = methods.filter((method) => known.find(method, path) !== null);
    if (allowed.length === 0) throw fault("not_found", "Not found");
    throw fault("method_not_allowed", `Method ${request.method} is not allowed here`, {
      headers: { allow: allowed.join(", ") },
    });
  });
}
