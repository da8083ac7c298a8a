import { doorOperations } from "@gantry/wire/operations";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { anthropicDialect } from "../anthropic-api/anthropic-dialect.ts";
import { openaiDialect } from "../openai-api/openai-dialect.ts";
import { useLargeBodies } from "./body-memory.ts";
import { answerPreflight, useCors } from "./cors.ts";
import type { DoorDeps } from "./deps.ts";
import { type ErrorDialect, useDoorDialect } from "./door-error.ts";

export type DoorRoutes = (app: FastifyInstance, deps: DoorDeps) => void;

/** The protocols of other services under `/v1`, each in its own error dialect. */
export async function doors(
  app: FastifyInstance,
  { version, routes, ...deps }: DoorDeps & { version: string; routes: Record<Mount, readonly DoorRoutes[]> },
): Promise<void> {
  const mount = (dialectOf: (request: FastifyRequest) => ErrorDialect, add: (scope: FastifyInstance) => void) =>
    app.register(
      async (scope) => {
        useDoorDialect(scope, deps.log, dialectOf);
        scope.addHook("onRequest", async (request, reply) => {
          reply.headers(dialectOf(request).headers?.(request.id) ?? {});
        });
        useCors(scope, deps.corsOrigins);
        useLargeBodies(scope, deps.bodies);
        add(scope);
      },
      { prefix: "/v1" },
    );
  for (const [name, dialectOf] of Object.entries(dialects)) {
    await mount(dialectOf, (scope) => {
      for (const add of routes[name as Mount]) add(scope, deps);
    });
  }
  await mount(
    () => openaiDialect,
    (scope) => {
      for (const path of paths) addPreflight(scope, path);
      scope.get("/doors/openapi.json", async (request) => {
        const { doorsDocument } = await import("@gantry/wire/openapi");
        return doorsDocument(request.baseUrl, version);
      });
    },
  );
}

type Mount = "openai" | "anthropic" | "both";

const dialects: Record<Mount, (request: FastifyRequest) => ErrorDialect> = {
  openai: () => openaiDialect,
  anthropic: () => anthropicDialect,
  /** Lists of models have one path for both protocols. */
  both: ({ headers }) => (headers["anthropic-version"] === undefined ? openaiDialect : anthropicDialect),
};

const paths = new Set(Object.values(doorOperations).map(({ path }) => path));

function addPreflight(app: FastifyInstance, path: string): void {
  const url = path.replace("{path}", "*").replace(/\{(\w+)\}/g, ":$1");
  app.options(url, { config: { routes: [`OPTIONS /v1${path}`], readsBody: true } }, answerPreflight);
}
