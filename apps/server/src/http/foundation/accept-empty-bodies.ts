import type { FastifyInstance } from "fastify";
import { fault } from "../../kernel/errors.ts";

/**
 * Many clients name JSON as content type on every request, also where there is no body (deleting, rotating). By itself
 * Fastify refuses that; on routes that are registered on `app` it is the same as no body.
 */
export function acceptEmptyBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.addContentTypeParser<string>("application/json", { parseAs: "string" }, (request, text, done) => {
    if (text === "") done(null, undefined);
    else parse(request, text, (error, body) => (error && isJson(text) ? done(poisonous(error)) : done(error, body)));
  });
}

/** The parser refuses names that would change what an object is, and says the same of them as of what is no JSON. */
function poisonous(cause: Error): Error {
  return fault("json_invalid", "A field name is not allowed: __proto__ anywhere, prototype in constructor", { cause });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
