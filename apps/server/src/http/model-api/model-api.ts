import type { FastifyInstance } from "fastify";
import { asyncRoutes } from "./async-routes.ts";
import { cancelRoute } from "./cancel-route.ts";
import type { ModelApiDeps } from "./deps.ts";
import { predictRoute } from "./predict-route.ts";
import { storageRoutes } from "./storage-routes.ts";
import { streamRoute } from "./stream-route.ts";

/** Predictions and files of a model. Routes read their bodies as streams. */
export async function modelApi(app: FastifyInstance, deps: ModelApiDeps): Promise<void> {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));

  predictRoute(app, deps);
  streamRoute(app, deps);
  cancelRoute(app, deps);
  asyncRoutes(app, deps);
  storageRoutes(app, deps);
}
