import { isUtf8 } from "node:buffer";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { fault } from "../../kernel/errors.ts";
import { bareType, parseMediaType } from "../../kernel/media-type.rules.ts";
import { jsonParserOf } from "../foundation/parse-json.ts";

/** Of a form. */
const mostFields = 1_000;

/** Reads the bytes of a hook by their type: JSON, a form or text. Without a body, the result is an empty object. */
export function createHookBody(app: FastifyInstance): (request: FastifyRequest, bytes: Buffer) => Promise<unknown> {
  const parseJson = jsonParserOf(app);
  return async (request, bytes) => {
    if (bytes.length === 0) return {};
    const given = request.headers["content-type"] ?? "application/json";
    const type = bareType(parseMediaType(given) ?? "");
    if (type === "application/json" || type.endsWith("+json")) {
      return new Promise((resolve, reject) => {
        parseJson(request, bytes, (error, body) => (error ? reject(error) : resolve(body)));
      });
    }
    const isForm = type === "application/x-www-form-urlencoded";
    if (!isForm && !type.startsWith("text/")) {
      const msg = "The body must be JSON, a form (application/x-www-form-urlencoded) or text";
      throw fault("value_error", msg, { loc: ["header", "content-type"] });
    }
    if (!isUtf8(bytes)) throw fault("json_invalid", "The body is not valid UTF-8");
    const text = bytes.toString("utf8");
    return isForm ? formOf(text) : text;
  };
}

/** A field that is sent several times is a list. */
function formOf(text: string): Record<string, unknown> {
  const fields = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const values = fields.get(name);
    if (values) values.push(value);
    else fields.set(name, [value]);
    if (fields.size > mostFields)
      throw fault("too_many_fields", `At most ${mostFields} fields`, { ctx: { max_fields: mostFields } });
  }
  return Object.fromEntries([...fields].map(([name, values]) => [name, values.length === 1 ? values[0] : values]));
}
