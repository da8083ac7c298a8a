import { isUtf8 } from "node:buffer";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Unstorable, unstorableInJson } from "./unstorable-text.rules.ts";

type Parse = (request: FastifyRequest, bytes: Buffer, done: (error: Error | null, body?: unknown) => void) => void;

/** The `code` of the error about a field name that would change the prototype of an object. */
export const poisonousName = "GANTRY_POISONOUS_NAME";
export const poisonousNameText = "a field name is not allowed: __proto__ anywhere, prototype in constructor";

const unstorableText = "GANTRY_UNSTORABLE_TEXT";

interface UnstorableError extends Error {
  code: typeof unstorableText;
  loc: Unstorable["loc"];
}

/** Fastify reports such a name as invalid JSON; this parser tells the two apart. */
export function jsonParserOf(app: FastifyInstance): Parse {
  const parse = app.getDefaultJsonParser("error", "error");
  return (request, bytes, done) => {
    if (!isUtf8(bytes)) return done(unstorable({ loc: ["body"], why: "The body is not valid UTF-8" }));
    const text = bytes.toString("utf8");
    parse(request, text, (error, body) => {
      if (error && isJson(text)) Object.assign(error, { code: poisonousName });
      const found = error ? undefined : unstorableInJson(text, body);
      if (found === undefined) done(error, body);
      else done(unstorable(found));
    });
  };
}

function unstorable({ loc, why }: Unstorable): UnstorableError {
  return Object.assign(new Error(why), { code: unstorableText, loc } as const);
}

export function isUnstorable(error: unknown): error is UnstorableError {
  return error instanceof Error && "code" in error && error.code === unstorableText;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

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
