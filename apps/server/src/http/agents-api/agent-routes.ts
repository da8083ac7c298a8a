import type { ToolRecord } from "@gantry/wire";
import { agentsOperations } from "@gantry/wire/operations";
import type { Caller } from "../../features/accounts/index.ts";
import type { Agents, AgentWithRevision, SeenAgent } from "../../features/agents/index.ts";
import type { Marketplace } from "../../features/marketplace/index.ts";
import { route } from "../foundation/route.ts";
import {
  agentCard,
  agentCreatedRecord,
  agentRecord,
  listingOf,
  revisionEntry,
  revisionRecord,
} from "./agent-records.ts";
import type { AgentsRoutes } from "./agents-api.ts";

const operations = agentsOperations;

/** Agents and their revisions. */
export function agentRoutes(agents: Agents, marketplace: Pick<Marketplace, "activityOf">): AgentsRoutes {
  async function shownTo(caller: Caller, seen: readonly SeenAgent[]) {
    const cards = seen.filter(({ isCard }) => isCard).map(({ agent }) => agent.id);
    const [activityOf, costsOf] = await Promise.all([
      marketplace.activityOf(seen.map(({ agent }) => agent.id)),
      agents.costsOf(caller.userId, cards),
    ]);
    return seen.map((one) => {
      const { id } = one.agent;
      return one.isCard ? agentCard(listingOf(one), costsOf(id), activityOf(id)) : agentRecord(one, activityOf(id));
    });
  }

  async function ownRecord(own: AgentWithRevision) {
    const { id } = own.agent;
    return agentRecord(own, (await marketplace.activityOf([id]))(id));
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
      ownRecord(await agents.changeAgent(caller, params.agent_id, body)),
    );

    route(app, operations.deleteAgent, async ({ caller, params }) => {
      await agents.deleteAgent(caller, params.agent_id);
    });

    route(app, operations.publishAgent, { unchecked: "body" }, async ({ caller, params, body }) =>
      ownRecord(await agents.publishAgent(caller, params.agent_id, body)),
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
      const [costsOf, activityOf] = await Promise.all([
        agents.costsOf(caller.userId, ids),
        marketplace.activityOf(ids),
      ]);
      const cards = entries.map((entry) => agentCard(entry, costsOf(entry.id), activityOf(entry.id)));
      return { agents: cards, total, limit, offset };
    });
  };
}

/** Every tool that an agent can be given. */
export function toolRoutes(tools: ReadonlyMap<string, ToolRecord>): AgentsRoutes {
  const listed = [...tools.values()].map(({ id, description, parameters, settings, kind }) => ({
    id,
    description,
    parameters,
    ...(settings && { settings }),
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
