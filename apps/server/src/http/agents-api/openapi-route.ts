import type { AgentsRoutes } from "./agents-api.ts";

/** What the platform can be asked, for machines. The document is loaded when somebody wants it, not at the start. */
export const openApiRoute =
  (version: string): AgentsRoutes =>
  (app) => {
    app.get("/openapi.json", async (request) => {
      const { agentsDocument } = await import("@gantry/wire/openapi");
      return agentsDocument(request.baseUrl, version);
    });
  };
