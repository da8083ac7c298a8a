import type { FastifyInstance } from "fastify";
import FindMyWay from "find-my-way";
import { fault } from "../../kernel/errors.ts";
import { pathOf } from "./request-path.ts";

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;

/** As many characters as a parameter in a path may have. */
export const maxParamLength = 2048;

/**
 * Answers what no route of `app` does, in its dialect: a wrong method is told apart from a wrong path. Called before its
 * routes are added.
 */
export function refuseUnknownPaths(app: FastifyInstance): void {
  // A second, empty router knows which paths exist at all.
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
