import type { FastifyInstance } from "fastify";

const preflightSeconds = 3600;

/**
 * Pages of any origin may use a link and read the answer, refusals included: the link is the permission, and no cookie
 * or key of a browser adds to it.
 */
export function letAnyOriginIn(surface: FastifyInstance): void {
  surface.addHook("onSend", (_request, reply, _payload, done) => {
    reply.headers({
      "access-control-allow-origin": "*",
      "access-control-expose-headers": "ETag, Content-Range",
      // Pages of other sites may embed what a link leads to.
      "cross-origin-resource-policy": "cross-origin",
    });
    done();
  });
  surface.options("/*", (request, reply) =>
    reply
      .code(204)
      .headers({
        "access-control-allow-methods": "GET, HEAD, PUT",
        "access-control-allow-headers": request.headers["access-control-request-headers"] ?? "content-type, range",
        "access-control-max-age": preflightSeconds,
      })
      .send(),
  );
}
