import type { AgentSnapshot } from "@gantry/wire";
import { Fault } from "../../kernel/errors.ts";
import { type Agents, asToolBinding, bindingAsks, isAgentBinding, type Runnable } from "../agents/index.ts";
import type { ModelTool, ToolServers } from "../tool-servers/index.ts";

export interface MayAskDeps {
  agents: Pick<Agents, "getRunnable" | "tools">;
  toolServers: Pick<ToolServers, "describeTools">;
}

/** Whether a run may need a confirmation. `unknown` if a tool server does not answer. */
export type Asking = "no" | "yes" | "unknown";

/** For an agent of the caller. */
export type MayAsk = (callerId: string, snapshot: AgentSnapshot) => Promise<Asking>;

/** The deepest level of nested runs. */
const maxDepth = 5;
/** Larger trees are not searched. */
const maxAgents = 100;
const serversWithinMs = 5_000;

interface Member {
  ownerId: string;
  snapshot: AgentSnapshot;
}

/**
 * Finds out whether runs may need a confirmation, from the tools of the agent, of its sub-agents and of all their servers.
 * Missing agents and servers are missing in a run too. Created for one request: lookups are shared, and all servers
 * together have five seconds.
 */
export function createMayAsk({ agents, toolServers }: MayAskDeps): MayAsk {
  const runnables = new Map<string, Promise<Runnable | undefined>>();
  const servers = new Map<string, Promise<readonly ModelTool[] | "unknown">>();
  let deadline: AbortSignal | undefined;

  async function toolsOfServer(ownerId: string, id: string, userId: string): Promise<readonly ModelTool[] | "unknown"> {
    deadline ??= AbortSignal.timeout(serversWithinMs);
    const signal = deadline;
    try {
      const { tools, missing } = await toolServers.describeTools(ownerId, [{ id }], { userId, signal });
      // A whole server did not answer. Single missing tools need no confirmation.
      const isAway = missing.some(({ serverName, tool }) => serverName !== undefined && tool === undefined);
      return isAway ? "unknown" : tools;
    } catch (error) {
      if (signal.aborted) return "unknown";
      throw error;
    }
  }

  async function askingOfServers({ ownerId, snapshot }: Member, callerId: string): Promise<Asking[]> {
    return Promise.all(
      snapshot.mcp_servers.map(async ({ id, tools: wanted }) => {
        const tools = await once(servers, `${ownerId} ${id}`, () => toolsOfServer(ownerId, id, callerId));
        if (tools === "unknown") return "unknown";
        return tools.some(({ asks, tool }) => asks && (wanted?.includes(tool) ?? true)) ? "yes" : "no";
      }),
    );
  }

  async function calledBy({ ownerId, snapshot }: Member): Promise<Runnable[]> {
    const found = await Promise.all(
      snapshot.tools.filter(isAgentBinding).map(({ agent_id: agentId }) =>
        // Runs call sub-agents with the rights of the agent's creator.
        once(runnables, `${ownerId} ${agentId}`, () => unlessMissing(agents.getRunnable(ownerId, { agentId }))),
      ),
    );
    return found.filter((one) => one !== undefined);
  }

  return async (callerId, snapshot) => {
    const seen = new Set<string>();
    let isKnown = true;
    let level: Member[] = [{ ownerId: callerId, snapshot }];
    for (let depth = 0; depth <= maxDepth && level.length > 0; depth++) {
      if (level.some(({ snapshot: { tools } }) => tools.some(asks))) return "yes";
      const ofServers = (await Promise.all(level.map((member) => askingOfServers(member, callerId)))).flat();
      if (ofServers.includes("yes")) return "yes";
      if (ofServers.includes("unknown")) isKnown = false;
      const called = (await Promise.all(level.map(calledBy))).flat();
      level = [];
      for (const { agent, revision } of called) {
        if (seen.has(agent.id)) continue;
        if (seen.size === maxAgents) return "yes";
        seen.add(agent.id);
        level.push({ ownerId: agent.ownerId, snapshot: revision.snapshot });
      }
    }
    return isKnown ? "no" : "unknown";
  };

  function asks(tool: AgentSnapshot["tools"][number]): boolean {
    if (isAgentBinding(tool)) return false;
    const info = agents.tools.get(asToolBinding(tool).id);
    return info !== undefined && bindingAsks(tool, info);
  }
}

function once<T>(known: Map<string, Promise<T>>, key: string, find: () => Promise<T>): Promise<T> {
  const found = known.get(key) ?? find();
  known.set(key, found);
  return found;
}

/** Undefined if the caller cannot see the thing. */
export async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Fault && (error.type === "not_found" || error.type === "agent_not_published"))
      return undefined;
    throw error;
  }
}
