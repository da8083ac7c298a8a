import type { FastifyRequest } from "fastify";
import type { Precondition } from "../../features/drives/index.ts";
import { fault } from "../../kernel/errors.ts";
import { etagMatches } from "../blob-api/byte-range.rules.ts";

type Conditional = Pick<FastifyRequest, "headers">;

/** What If-Match and If-None-Match of a write demand of the version that it meets (RFC 9110, 13.1). */
export function preconditionOf({ headers }: Conditional): Precondition {
  return (standing) => {
    requireMatch({ headers }, standing);
    if (standing !== undefined && etagMatches(headers["if-none-match"], `"${standing}"`)) {
      throw failed("If-None-Match", "A version stands there that If-None-Match excludes");
    }
  };
}

/** The half of it that holds for reading too; there If-None-Match asks for an answer of its own. */
export function requireMatch({ headers }: Conditional, standing: string | undefined): void {
  const wanted = headers["if-match"];
  if (wanted === undefined) return;
  if (standing === undefined) throw failed("If-Match", "If-Match asks for a version, and no file stands there");
  const isNamed = wanted.trim() === "*" || wanted.split(",").some((one) => one.trim() === `"${standing}"`);
  if (!isNamed) throw failed("If-Match", "The version that stands there is none that If-Match names");
}

function failed(header: string, msg: string) {
  return fault("precondition_failed", msg, { loc: ["header", header] });
}
