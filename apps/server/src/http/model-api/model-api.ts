import type { FastifyInstance } from "fastify";
import { requireCaller } from "../foundation/require-caller.ts";
import { asyncRoutes } from "./async-routes.ts";
import { cancelRoute } from "./cancel-route.ts";
import type { ModelApiDeps, RouteDeps } from "./deps.ts";
import { predictRoute } from "./predict-route.ts";
import { storageRoutes } from "./storage-routes.ts";
import { streamRoute } from "./stream-route.ts";

/** The routes of a model: predictions and files. Bodies are read by the routes themselves, as streams. */
export async function modelApi(app: FastifyInstance, deps: ModelApiDeps): Promise<void> {
  const routeDeps: RouteDeps = { ...deps, callerOf: requireCaller(deps.accounts.authenticate) };
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));

  predictRoute(app, routeDeps);
  streamRoute(app, routeDeps);
  cancelRoute(app, routeDeps);
  asyncRoutes(app, routeDeps);
  storageRoutes(app, routeDeps);
}
