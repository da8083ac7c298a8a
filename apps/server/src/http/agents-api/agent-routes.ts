import type { ToolRecord } from "@gantry/wire";
import { agentsOperations } from "@gantry/wire/operations";
import type { Caller } from "../../features/accounts/index.ts";
import type { Agents, SeenAgent } from "../../features/agents/index.ts";
import type { Marketplace } from "../../features/marketplace/index.ts";
import { route } from "../foundation/route.ts";
import {
  agentCard,
  agentCreatedRecord,
  agentRecord,
  revisionEntry,
  revisionRecord,
  seenAgent,
} from "./agent-records.ts";
import type { AgentsRoutes } from "./agents-api.ts";

const operations = agentsOperations;

/** Agents and their revisions. */
export function agentRoutes(agents: Agents): AgentsRoutes {
  async function shownTo(caller: Caller, seen: readonly SeenAgent[]) {
    const cards = seen.filter(({ isCard }) => isCard).map(({ agent }) => agent.id);
    if (cards.length === 0) return seen.map(agentRecord);
    const costsOf = await agents.costsOf(caller.userId, cards);
    return seen.map((one) => seenAgent(one, costsOf));
  }

  return (app) => {
    route(app, operations.createAgent, { unchecked: "body" }, async ({ caller, body }) =>
      agentCreatedRecord(await agents.createAgent(caller, body)),
    );

    route(app, operations.listAgents, async ({ caller, query }) => {
      const { entries, total } = await agents.listAgents(caller, query);
      return { agents: await shownTo(caller, entries), total, limit: query.limit, offset: query.offset };
    });

    route(app, operations.readAgent, async ({ caller, params, reply }) => {
      const [agent] = await shownTo(caller, [await agents.readAgent(caller, params.agent_id)]);
      return reply.send(agent);
    });

    route(app, operations.changeAgent, { unchecked: "body" }, async ({ caller, params, body }) =>
      agentRecord(await agents.changeAgent(caller, params.agent_id, body)),
    );

    route(app, operations.deleteAgent, async ({ caller, params }) => {
      await agents.deleteAgent(caller, params.agent_id);
    });

    route(app, operations.publishAgent, { unchecked: "body" }, async ({ caller, params, body }) =>
      agentRecord(await agents.publishAgent(caller, params.agent_id, body)),
    );

    route(app, operations.listRevisions, async ({ caller, params, query }) => {
      const { entries, total } = await agents.listRevisions(caller, params.agent_id, query);
      return { revisions: entries.map(revisionEntry), total, ...query };
    });

    route(app, operations.readRevision, async ({ caller, params }) =>
      revisionRecord(await agents.readRevision(caller, params.agent_id, params.revision_id)),
    );

    route(app, operations.diffRevision, async ({ caller, params, query }) =>
      agents.diffRevision(caller, params.agent_id, params.revision_id, query.against),
    );
  };
}

export function marketplaceRoutes(marketplace: Marketplace, agents: Pick<Agents, "costsOf">): AgentsRoutes {
  return (app) => {
    route(app, operations.listMarketplaceAgents, async ({ caller, query: { limit, offset, q } }) => {
      const { entries, total } = await marketplace.listAgents({ q, limit, offset });
      const ids = entries.map(({ id }) => id);
      const costsOf = await agents.costsOf(caller.userId, ids);
      return { agents: entries.map((entry) => agentCard(entry, costsOf(entry.id))), total, limit, offset };
    });
  };
}

/** Every tool that an agent can be given. */
export function toolRoutes(tools: ReadonlyMap<string, ToolRecord>): AgentsRoutes {
  const listed = [...tools.values()].map(({ id, description, parameters, kind }) => ({
    id,
    description,
    parameters,
    kind,
  }));
  return (app) => {
    route(app, operations.listTools, async () => ({ tools: listed }));
  };
}

export function openApiRoute(version: string): AgentsRoutes {
  return (app) => {
    app.get("/openapi.json", async (request) => {
      // Loaded on demand: the document is large.
      const { agentsDocument } = await import("@gantry/wire/openapi");
      return agentsDocument(request.baseUrl, version);
    });
  };
}
