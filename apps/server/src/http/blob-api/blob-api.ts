import type { FastifyInstance, FastifyRequest } from "fastify";
import { refuseUnknownPaths } from "../foundation/refuse-unknown-paths.ts";
import { requireMediaType } from "../foundation/require-media-type.ts";
import type { BlobApiDeps } from "./blob-api-deps.ts";
import { getObject } from "./get-object.ts";
import { putObject } from "./put-object.ts";

/**
 * Serves the links of the embedded store. The signature in the link is the permission and is verified first, before the
 * body is read.
 */
export async function blobApi(app: FastifyInstance, deps: BlobApiDeps): Promise<void> {
  await app.register(
    async (surface) => {
      letAnyOriginIn(surface);
      refuseUnknownPaths(surface);
      // Bodies stay streams, whatever their type.
      surface.removeAllContentTypeParsers();
      surface.addContentTypeParser("*", (_request, payload, done) => done(null, payload));
      requireMediaType(surface);

      surface.route({
        method: ["GET", "HEAD"],
        url: "/*",
        handler: (request, reply) => {
          const { key } = checkLink(request, deps, request.method === "HEAD" ? "HEAD" : "GET");
          return getObject(request, reply, deps.store, key);
        },
      });
      surface.put("/*", (request, reply) => {
        const { key } = checkLink(request, deps, "PUT");
        return putObject(request, reply, deps, key);
      });
    },
    { prefix: "/s3" },
  );
}

function checkLink(request: FastifyRequest, { store, linkAddress }: BlobApiDeps, method: "GET" | "HEAD" | "PUT") {
  const [path = "", query = ""] = (request.raw.url ?? "").split(/\?(.*)/s);
  const hosts = new Set([request.headers.host, request.host].filter((host) => host !== undefined));
  const origins = [...hosts].map((host) => ({ host: host.toLowerCase(), prefix: "" }));
  if (linkAddress !== undefined) {
    const { host, pathname } = new URL(linkAddress);
    origins.push({ host, prefix: pathname.replace(/\/+$/, "") });
  }
  return store.checkLink({ method, path, query, origins });
}

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
