import type { FastifyInstance } from "fastify";
import { jsonParserOf } from "./parse-json.ts";

/**
 * Many clients name JSON as content type on every request, also where there is no body (deleting, rotating). By itself
 * Fastify refuses that; on routes that are registered on `app` it is the same as no body.
 */
export function acceptEmptyBodies(app: FastifyInstance): void {
  const parse = jsonParserOf(app);
  app.addContentTypeParser<Buffer>("application/json", { parseAs: "buffer" }, (request, bytes, done) => {
    if (bytes.length === 0) done(null, undefined);
    else parse(request, bytes, done);
  });
}
