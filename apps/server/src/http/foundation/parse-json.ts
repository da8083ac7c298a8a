import { isUtf8 } from "node:buffer";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Loc } from "../../kernel/errors.ts";
import { halfPairIn } from "./half-pair.rules.ts";

type Parse = (request: FastifyRequest, bytes: Buffer, done: (error: Error | null, body?: unknown) => void) => void;

/** The `code` of the error about a body that is JSON and has a field name which would change what an object is. */
export const poisonousName = "GANTRY_POISONOUS_NAME";
export const poisonousNameText = "a field name is not allowed: __proto__ anywhere, prototype in constructor";

/** The `code` of the error about a body whose text could only be kept as another one. */
export const notUnicode = "GANTRY_NOT_UNICODE";

interface NotUnicode extends Error {
  code: typeof notUnicode;
  loc: Loc;
}

/** The framework's own parser, which says the same of such a name as of what is no JSON: told apart. */
export function jsonParserOf(app: FastifyInstance): Parse {
  const parse = app.getDefaultJsonParser("error", "error");
  return (request, bytes, done) => {
    if (!isUtf8(bytes)) return done(notUnicodeAt(["body"], "The body is not valid UTF-8"));
    const text = bytes.toString("utf8");
    parse(request, text, (error, body) => {
      if (error && isJson(text)) Object.assign(error, { code: poisonousName });
      const place = error ? undefined : halfPairIn(text, body);
      if (place === undefined) done(error, body);
      else done(notUnicodeAt(["body", ...place], "The text is not valid Unicode: it has half of a surrogate pair"));
    });
  };
}

function notUnicodeAt(loc: Loc, message: string): NotUnicode {
  return Object.assign(new Error(message), { code: notUnicode, loc } as const);
}

export function isNotUnicode(error: unknown): error is NotUnicode {
  return error instanceof Error && "code" in error && error.code === notUnicode;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
