import type { Marketplace } from "../../features/marketplace/index.ts";
import { agentCard } from "./agent-records.ts";
import type { AgentsRoutes } from "./agents-api.ts";
import { ListQuery } from "./list-query.ts";

/** What others offer. */
export function marketplaceRoutes(marketplace: Marketplace): AgentsRoutes {
  return (app) => {
    app.get("/marketplace/agents", async (request) => {
      const query = new ListQuery(request.query);
      const { limit, offset } = query.range();
      const q = query.text("q");
      query.done();
      const { entries, total } = await marketplace.listAgents({ q, limit, offset });
      return { agents: entries.map(agentCard), total, limit, offset };
    });
  };
}
