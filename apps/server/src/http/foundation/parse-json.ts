import { isUtf8 } from "node:buffer";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Unstorable, unstorableInJson } from "./unstorable-text.rules.ts";

type Parse = (request: FastifyRequest, bytes: Buffer, done: (error: Error | null, body?: unknown) => void) => void;

/** The `code` of the error about a field name that would change the prototype of an object. */
export const poisonousName = "GANTRY_POISONOUS_NAME";
export const poisonousNameText = "a field name is not allowed: __proto__ anywhere, prototype in constructor";

/** Parsed, a small value takes many times its bytes. */
const mostValues = 1_000_000;

/** The code of the error about a body with too many values. */
export const tooManyValues = "GANTRY_TOO_MANY_VALUES";
export const tooManyValuesText = `The body has more than ${mostValues} values`;

const unstorableText = "GANTRY_UNSTORABLE_TEXT";

interface UnstorableError extends Error {
  code: typeof unstorableText;
  loc: Unstorable["loc"];
}

/** Fastify reports such a name as invalid JSON; this parser tells the two apart. */
export function jsonParserOf(app: FastifyInstance): Parse {
  const parse = app.getDefaultJsonParser("error", "error");
  return (request, bytes, done) => {
    if (hasTooManyValues(bytes)) return done(Object.assign(new Error(tooManyValuesText), { code: tooManyValues }));
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

/** Counts commas and brackets outside of strings. */
function hasTooManyValues(bytes: Buffer): boolean {
  // Each value takes at least a comma and a character.
  if (bytes.length < 2 * mostValues) return false;
  let values = 1;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) at = endOfText(bytes, at + 1);
    else if ((byte === comma || byte === bracket || byte === brace) && ++values > mostValues) return true;
  }
  return false;
}

/** Steps through the beginning, because most texts are short, and searches the rest natively, because images are long. */
function endOfText(bytes: Buffer, start: number): number {
  for (let from = start; from < bytes.length; ) {
    for (const searched = from + 32; from < searched; from++) {
      if (bytes[from] === quote) return from;
      if (bytes[from] === backslash) from++;
    }
    const found = bytes.indexOf(quote, from);
    if (found === -1) break;
    let backslashes = 0;
    while (bytes[found - 1 - backslashes] === backslash) backslashes++;
    if (backslashes % 2 === 0) return found;
    from = found + 1;
  }
  return bytes.length;
}

const codeOf = (character: string) => character.charCodeAt(0);
const [quote, comma, bracket] = [codeOf('"'), codeOf(","), codeOf("[")];
const [brace, backslash] = [codeOf("{"), codeOf("\\")];

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
