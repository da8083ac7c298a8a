import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { discardBody } from "../foundation/discard-body.ts";

const exposed =
  "x-request-id, request-id, x-gantry-prediction-id, x-gantry-run-id, x-gantry-cost, x-gantry-size, retry-after, x-should-retry, www-authenticate, mcp-session-id";
const preflightSeconds = "7200";

/** Lets pages of the allowed origins call the routes of a plugin. Keys are sent in headers, so cookies are not allowed. */
export function useCors(app: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return;
  const allow = async (request: FastifyRequest, reply: FastifyReply) => {
    const origin = allowedOrigin(request, origins);
    if (!origins.includes("*")) reply.header("vary", "origin");
    if (origin === undefined) return;
    reply.headers({ "access-control-allow-origin": origin, "access-control-expose-headers": exposed });
  };
  app.addHook("onRequest", allow);
  // A request without a valid key is refused before the hooks of this plugin.
  app.addHook("onSend", allow);
}

/** Answers the preflight of a browser. Without allowed origins it allows nothing. */
export function answerPreflight(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  discardBody(request.raw, reply.raw);
  if (reply.hasHeader("access-control-allow-origin")) {
    const asked = request.headers["access-control-request-headers"];
    reply.headers({
      "access-control-allow-methods": "GET, POST, DELETE",
      // Clients send headers of their own, such as x-stainless-os.
      ...(asked !== undefined && { "access-control-allow-headers": asked }),
      "access-control-max-age": preflightSeconds,
    });
  }
  return reply.code(204).send();
}

function allowedOrigin({ headers }: FastifyRequest, origins: readonly string[]): string | undefined {
  const { origin } = headers;
  if (origin === undefined) return undefined;
  if (origins.includes("*")) return "*";
  return origins.includes(origin.toLowerCase()) ? origin : undefined;
}
