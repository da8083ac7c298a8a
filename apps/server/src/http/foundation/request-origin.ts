import type { FastifyRequest } from "fastify";
import type { RequestOrigin } from "../../features/predictions/index.ts";
import { isRecord } from "../../kernel/is-record.ts";

/** Any value but these opts out: a misspelt one must not keep an input. */
const keeping: ReadonlySet<unknown> = new Set([undefined, "", "true", "1"]);

/** The id of a request, and whether it allows to keep its input. `store` is OpenAI's field for it. */
export function originOf({ id, headers, body }: FastifyRequest): RequestOrigin {
  const isRefused = isRecord(body) && body.store === false;
  return { id, keepsInput: !isRefused && keeping.has(headers["gantry-keep-input"]) };
}
