import type { FastifyInstance, FastifyRequest } from "fastify";
import { isContentType } from "../../features/files/index.ts";
import { refuseUnknownPaths } from "../foundation/refuse-unknown-paths.ts";
import { letAnyOriginIn } from "./any-origin.ts";
import type { BlobApiDeps } from "./blob-api-deps.ts";
import { getObject } from "./get-object.ts";
import { putObject } from "./put-object.ts";

/**
 * The addresses that the embedded store's links lead to. No key is asked for: the signature in the link is the
 * permission. It is checked before anything else, also before the body is looked at.
 */
export async function blobApi(app: FastifyInstance, deps: BlobApiDeps): Promise<void> {
  await app.register(
    async (surface) => {
      letAnyOriginIn(surface);
      refuseUnknownPaths(surface);
      // Bodies stay streams, whatever type they claim.
      surface.removeAllContentTypeParsers();
      surface.addContentTypeParser("*", (_request, payload, done) => done(null, payload));
      surface.addHook("onRequest", (request, _reply, done) => {
        // A type that is none says nothing about the file, and is no reason to refuse it.
        if (!isContentType(request.headers["content-type"] ?? "")) delete request.raw.headers["content-type"];
        done();
      });

      surface.route({
        method: ["GET", "HEAD"],
        url: "/*",
        handler: (request, reply) => {
          const { key, query } = checkLink(request, deps, request.method === "HEAD" ? "HEAD" : "GET");
          return getObject(request, reply, deps.store, key, query.get("response-content-disposition"));
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

function checkLink(request: FastifyRequest, { store, publicUrl }: BlobApiDeps, method: "GET" | "HEAD" | "PUT") {
  const [path = "", query = ""] = (request.raw.url ?? "").split(/\?(.*)/s);
  const hosts = new Set([request.headers.host, request.host].filter((host) => host !== undefined));
  const origins = [...hosts].map((host) => ({ host: host.toLowerCase(), prefix: "" }));
  if (publicUrl !== undefined) {
    const { host, pathname } = new URL(publicUrl);
    origins.push({ host, prefix: pathname.replace(/\/+$/, "") });
  }
  return store.checkLink({ method, path, query, origins });
}
