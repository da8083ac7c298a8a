import { agentsOpenApi } from "@gantry/wire";
import type { AgentsRoutes } from "./agents-api.ts";

/** What the platform can be asked, for machines. */
export const openApiRoute: AgentsRoutes = (app) => {
  app.get("/openapi.json", async (request) => agentsOpenApi(request.baseUrl));
};
