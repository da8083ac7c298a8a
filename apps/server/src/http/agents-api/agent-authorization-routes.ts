import { agentsOperations } from "@gantry/wire/operations";
import { mayAuthorize } from "../../features/accounts/index.ts";
import { type Agents, isAgentBinding, type Runnable } from "../../features/agents/index.ts";
import type { ToolServers } from "../../features/tool-servers/index.ts";
import { Fault, isUnavailable } from "../../kernel/errors.ts";
import { route } from "../foundation/route.ts";
import type { AgentsRoutes } from "./agents-api.ts";

/** As deep as runs go. */
const mostLevels = 5;
const mostAgents = 50;

type AgentReader = Pick<Agents, "readAgent" | "getRunnable">;

/** Tool servers that a caller of an agent authorizes with an account of their own. */
export function agentAuthorizationRoutes(
  agents: AgentReader,
  toolServers: Pick<ToolServers, "authorizations">,
): AgentsRoutes {
  return (app) => {
    route(app, agentsOperations.listAgentAuthorizations, async ({ caller, params, request }) => {
      // Refuses agents that the key does not reach.
      await agents.readAgent(caller, params.agent_id);
      const runnable = await agents.getRunnable(caller.userId, { agentId: params.agent_id });
      const servers = await serversOf(agents, runnable);
      const baseUrl = mayAuthorize(caller) ? request.baseUrl : undefined;
      return { authorizations: await toolServers.authorizations(caller.userId, servers, baseUrl) };
    });
  };
}

/** The servers of the agent and of its sub-agents, whose runs belong to the same caller. */
async function serversOf(agents: AgentReader, root: Runnable): Promise<{ ownerId: string; id: string }[]> {
  const servers = new Map<string, { ownerId: string; id: string }>();
  const seen = new Set([root.agent.id]);
  let level: Runnable[] = [root];
  for (let depth = 0; depth < mostLevels && level.length > 0; depth++) {
    const next: Runnable[] = [];
    for (const { agent, revision } of level) {
      for (const { id } of revision.snapshot.mcp_servers) servers.set(id, { ownerId: agent.ownerId, id });
      for (const { agent_id: agentId } of revision.snapshot.tools.filter(isAgentBinding)) {
        if (seen.has(agentId) || seen.size >= mostAgents) continue;
        seen.add(agentId);
        const child = await subAgent(agents, agent.ownerId, agentId);
        if (child) next.push(child);
      }
    }
    level = next;
  }
  return [...servers.values()];
}

/** Undefined if it is hidden, deleted or not published: a run goes on without it. */
async function subAgent(agents: AgentReader, ownerId: string, agentId: string): Promise<Runnable | undefined> {
  try {
    return await agents.getRunnable(ownerId, { agentId });
  } catch (error) {
    if (!(error instanceof Fault) || isUnavailable(error)) throw error;
    return undefined;
  }
}
