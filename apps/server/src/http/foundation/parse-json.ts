import type { FastifyInstance, FastifyRequest } from "fastify";

type Parse = (request: FastifyRequest, text: string, done: (error: Error | null, body?: unknown) => void) => void;

/** The `code` of the error about a body that is JSON and has a field name which would change what an object is. */
export const poisonousName = "GANTRY_POISONOUS_NAME";
export const poisonousNameText = "a field name is not allowed: __proto__ anywhere, prototype in constructor";

/** The framework's own parser, which says the same of such a name as of what is no JSON: told apart. */
export function jsonParserOf(app: FastifyInstance): Parse {
  const parse = app.getDefaultJsonParser("error", "error");
  return (request, text, done) =>
    parse(request, text, (error, body) => {
      if (error && isJson(text)) Object.assign(error, { code: poisonousName });
      done(error, body);
    });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
