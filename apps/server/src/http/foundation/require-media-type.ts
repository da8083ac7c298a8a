import type { FastifyInstance } from "fastify";
import { fault } from "../../kernel/errors.ts";
import { notMediaType, parseMediaType } from "../../kernel/media-type.rules.ts";

const takesBody = new Set(["PUT", "POST", "PATCH"]);
const form = /^\s*multipart\/form-data\s*(;|$)/i;

/**
 * For routes that store bytes under the type of their Content-Type header: a header that is not one media type is
 * refused. A form is read as one, whatever its boundary. Where no body is taken, a wrong header means nothing.
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
