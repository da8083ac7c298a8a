import type { FastifyInstance } from "fastify";
import FindMyWay from "find-my-way";
import { fault } from "../../kernel/errors.ts";
import { pathOf } from "./request-line.ts";

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;

export const maxParamLength = 2048;

/**
 * Answers requests without a route, in the dialect of `app`: 405 for a wrong method, 404 for a wrong path. Call it
 * before you add routes.
 */
export function refuseUnknownPaths(app: FastifyInstance): void {
  // A second router without handlers knows which paths exist.
  const known = FindMyWay({ ignoreTrailingSlash: true, maxParamLength });
  app.addHook("onRoute", ({ method, url }) => {
    for (const one of [method].flat()) if (!known.hasRoute(one as "GET", url)) known.on(one as "GET", url, () => {});
  });
  app.setNotFoundHandler((request) => {
    const allowed = methods.filter((method) => known.find(method, pathOf(request.url)) !== null);
    if (allowed.length === 0) throw fault("not_found", "Not found");
    throw fault("method_not_allowed", `Method ${request.method} is not allowed here`, {
      headers: { allow: allowed.join(", ") },
    });
  });
}
