import type { FastifyInstance } from "fastify";
import { jsonParserOf } from "./parse-json.ts";

/**
 * Many clients send the JSON content type on every request, also without a body (DELETE, rotate). Fastify refuses that
 * by default; here it counts as no body.
 */
export function acceptEmptyBodies(app: FastifyInstance): void {
  const parse = jsonParserOf(app);
  app.addContentTypeParser<Buffer>("application/json", { parseAs: "buffer" }, (request, bytes, done) => {
    if (bytes.length === 0) done(null, undefined);
    else parse(request, bytes, done);
  });
}
