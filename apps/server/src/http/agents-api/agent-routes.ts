import { agentsQuery, diffQuery, revisionsQuery } from "@gantry/wire";
import type { Caller } from "../../features/accounts/index.ts";
import type { Agents, SeenAgent } from "../../features/agents/index.ts";
import { parseOrThrow } from "../../kernel/schema-issues.ts";
import { agentCreatedRecord, agentRecord, revisionEntry, revisionRecord, seenAgent } from "./agent-records.ts";
import type { AgentsRoutes } from "./agents-api.ts";

interface OfAgent {
  Params: { agentId: string };
}
interface OfRevision {
  Params: { agentId: string; revisionId: string };
}

/** Agents and their revisions. */
export function agentRoutes(agents: Agents): AgentsRoutes {
  async function shownTo(caller: Caller, seen: readonly SeenAgent[]) {
    const cards = seen.filter(({ isCard }) => isCard).map(({ agent }) => agent.id);
    if (cards.length === 0) return seen.map(agentRecord);
    const costsOf = await agents.costsOf(caller.userId, cards);
    return seen.map((one) => seenAgent(one, costsOf));
  }

  return (app, callerOf) => {
    app.post("/agents", async (request, reply) => {
      const made = await agents.createAgent(await callerOf(request), request.body);
      return reply.code(201).send(agentCreatedRecord(made));
    });

    app.get("/agents", async (request) => {
      const query = parseOrThrow(agentsQuery, request.query, ["query"]);
      const caller = await callerOf(request);
      const { entries, total } = await agents.listAgents(caller, query);
      return { agents: await shownTo(caller, entries), total, limit: query.limit, offset: query.offset };
    });

    app.get<OfAgent>("/agents/:agentId", async (request) => {
      const caller = await callerOf(request);
      const [agent] = await shownTo(caller, [await agents.readAgent(caller, request.params.agentId)]);
      return agent;
    });

    app.patch<OfAgent>("/agents/:agentId", async (request) =>
      agentRecord(await agents.changeAgent(await callerOf(request), request.params.agentId, request.body)),
    );

    app.delete<OfAgent>("/agents/:agentId", async (request, reply) => {
      await agents.deleteAgent(await callerOf(request), request.params.agentId);
      return reply.code(204).send();
    });

    app.post<OfAgent>("/agents/:agentId/publish", async (request) =>
      agentRecord(await agents.publishAgent(await callerOf(request), request.params.agentId, request.body)),
    );

    app.get<OfAgent>("/agents/:agentId/revisions", async (request) => {
      const range = parseOrThrow(revisionsQuery, request.query, ["query"]);
      const { entries, total } = await agents.listRevisions(await callerOf(request), request.params.agentId, range);
      return { revisions: entries.map(revisionEntry), total, ...range };
    });

    app.get<OfRevision>("/agents/:agentId/revisions/:revisionId", async (request) => {
      const { agentId, revisionId } = request.params;
      return revisionRecord(await agents.readRevision(await callerOf(request), agentId, revisionId));
    });

    app.get<OfRevision>("/agents/:agentId/revisions/:revisionId/diff", async (request) => {
      const { against } = parseOrThrow(diffQuery, request.query, ["query"]);
      const { agentId, revisionId } = request.params;
      return agents.diffRevision(await callerOf(request), agentId, revisionId, against);
    });
  };
}
