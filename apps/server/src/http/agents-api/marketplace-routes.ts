import { marketplaceQuery } from "@gantry/wire";
import type { Marketplace } from "../../features/marketplace/index.ts";
import { parseOrThrow } from "../../kernel/schema-issues.ts";
import { agentCard } from "./agent-records.ts";
import type { AgentsRoutes } from "./agents-api.ts";

/** What others offer. */
export function marketplaceRoutes(marketplace: Marketplace): AgentsRoutes {
  return (app) => {
    app.get("/marketplace/agents", async (request) => {
      const { limit, offset, q } = parseOrThrow(marketplaceQuery, request.query, ["query"]);
      const { entries, total } = await marketplace.listAgents({ q, limit, offset });
      return { agents: entries.map(agentCard), total, limit, offset };
    });
  };
}
