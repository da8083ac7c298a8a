import type { FastifyInstance } from "fastify";
import type { RouteDeps } from "./deps.ts";

/** What can be asked under `/api/v2`, for machines. The document is loaded when somebody wants it, not at the start. */
export function openApiRoute(app: FastifyInstance, { version }: RouteDeps): void {
  app.get("/api/v2/openapi.json", async (request) => {
    const { accountDocument } = await import("@gantry/wire/openapi");
    return accountDocument(request.baseUrl, version);
  });
}
