import type { FastifyInstance } from "fastify";
import { fault } from "../../kernel/errors.ts";
import { notMediaType, parseMediaType } from "../../kernel/media-type.rules.ts";

const takesBody = new Set(["PUT", "POST", "PATCH"]);
const form = /^\s*multipart\/form-data\s*(;|$)/i;

/**
 * For routes that store bytes under their Content-Type: refuses a header that is not a media type. Forms are read as
 * forms. Without a body the header is ignored.
 */
export function requireMediaType(app: FastifyInstance): void {
  app.addHook("onRequest", (request, _reply, done) => {
    const given = request.headers["content-type"];
    if (given === undefined || form.test(given)) return done();
    if (parseMediaType(given) !== undefined) return done();
    delete request.raw.headers["content-type"];
    if (given === "" || !takesBody.has(request.method)) return done();
    done(fault("value_error", notMediaType, { loc: ["header", "content-type"], input: given }));
  });
}
