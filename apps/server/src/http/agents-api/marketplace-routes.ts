import { marketplaceQuery } from "@gantry/wire";
import type { Agents } from "../../features/agents/index.ts";
import type { Marketplace } from "../../features/marketplace/index.ts";
import { parseOrThrow } from "../../kernel/schema-issues.ts";
import { agentCard } from "./agent-records.ts";
import type { AgentsRoutes } from "./agents-api.ts";

/** What others offer. */
export function marketplaceRoutes(marketplace: Marketplace, agents: Pick<Agents, "costsOf">): AgentsRoutes {
  return (app, callerOf) => {
    app.get("/marketplace/agents", async (request) => {
      const { limit, offset, q } = parseOrThrow(marketplaceQuery, request.query, ["query"]);
      const { entries, total } = await marketplace.listAgents({ q, limit, offset });
      const ids = entries.map(({ id }) => id);
      const costsOf = await agents.costsOf((await callerOf(request)).userId, ids);
      return { agents: entries.map((entry) => agentCard(entry, costsOf(entry.id))), total, limit, offset };
    });
  };
}
