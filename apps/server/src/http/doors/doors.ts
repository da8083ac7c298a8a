import { doorOperations } from "@gantry/wire/operations";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { useLargeBodies } from "./body-memory.ts";
import { answerPreflight, useCors } from "./cors.ts";
import type { DoorDeps } from "./deps.ts";
import { type ErrorDialect, useDoorDialect } from "./door-error.ts";

export type DoorRoutes = (app: FastifyInstance, deps: DoorDeps) => void;

/** The routes of one protocol. */
export interface Mount {
  dialectOf(request: FastifyRequest): ErrorDialect;
  routes: readonly DoorRoutes[];
}

/** The protocols of other services under `/v1`, each in its own error dialect. */
export async function doors(
  app: FastifyInstance,
  { mounts, ...deps }: DoorDeps & { mounts: readonly Mount[] },
): Promise<void> {
  for (const { dialectOf, routes } of mounts) {
    await app.register(
      async (scope) => {
        useDoorDialect(scope, deps.log, dialectOf);
        scope.addHook("onRequest", async (request, reply) => {
          reply.headers(dialectOf(request).headers?.(request.id) ?? {});
        });
        useCors(scope, deps.corsOrigins);
        useLargeBodies(scope, deps.bodies);
        for (const add of routes) add(scope, deps);
      },
      { prefix: "/v1" },
    );
  }
}

/** Belongs to all protocols, so one mount has it. */
export function commonRoutes(version: string): DoorRoutes {
  return (app) => {
    for (const path of paths) addPreflight(app, path);
    app.get("/doors/openapi.json", async (request) => {
      const { doorsDocument } = await import("@gantry/wire/openapi");
      return doorsDocument(request.baseUrl, version);
    });
  };
}

const paths = new Set(Object.values(doorOperations).map(({ path }) => path));

function addPreflight(app: FastifyInstance, path: string): void {
  const url = path.replace("{path}", "*").replace(/\{(\w+)\}/g, ":$1");
  app.options(url, { config: { routes: [`OPTIONS /v1${path}`], readsBody: true } }, answerPreflight);
}
