import type { AgentSnapshot, RevisionDiff } from "@gantry/wire";
import type { Transaction } from "../../engines/database/database.ts";
import type { Caller, Page } from "../accounts/index.ts";
import type { Agent, AgentWithRevision, Revision, SeenAgent } from "./agent.ts";
import { deleteAgent, type ListAgentsQuery, listAgents, readAgent } from "./agents.ts";
import { findUsing, type UsedResource } from "./binding-store.ts";
import { changeAgent } from "./change-agent.ts";
import type { AgentsContext } from "./context.ts";
import { createAgent } from "./create-agent.ts";
import { boundNames, exists, getRunnable, idsAt, lockRunnable, type Runnable } from "./get-runnable.ts";
import { keyReachesAgent } from "./key-reach.ts";
import { findRunnable, listRunnable, type RunnableCard } from "./list-runnable.ts";
import { type AgentCosts, readCosts } from "./prices.ts";
import { publishAgent } from "./publish-agent.ts";
import { diffRevision, exportRevisions, listRevisions, readRevision } from "./revisions.ts";
import { type AgentAddress, findOwner, findRevision, type RevisionHead } from "./store.ts";
import { restoreAgent, takeDownAgent } from "./take-down-agent.ts";
import { type ToolInfo, toolTable } from "./tools.ts";

export interface Agents {
  createAgent(caller: Caller, body: unknown): Promise<AgentWithRevision>;
  readAgent(caller: Caller, agentId: string): Promise<SeenAgent>;
  listAgents(caller: Caller, query: ListAgentsQuery): Promise<Page<SeenAgent>>;
  changeAgent(caller: Caller, agentId: string, body: unknown): Promise<AgentWithRevision>;
  deleteAgent(caller: Caller, agentId: string): Promise<void>;
  publishAgent(caller: Caller, agentId: string, body: unknown): Promise<AgentWithRevision>;
  listRevisions(caller: Caller, agentId: string, range: { limit: number; offset: number }): Promise<Page<RevisionHead>>;
  readRevision(caller: Caller, agentId: string, revisionId: string): Promise<Revision>;
  /** Of all agents of the caller, also of deleted ones. */
  exportRevisions(caller: Caller): AsyncGenerator<Revision>;
  diffRevision(caller: Caller, agentId: string, revisionId: string, against: string | undefined): Promise<RevisionDiff>;
  getRunnable(callerId: string, address: AgentAddress, revisionId?: string): Promise<Runnable>;
  lockRunnable(tx: Transaction, callerId: string, agentId: string): Promise<Runnable>;
  /** Published agents that the caller may run: its own first, then public ones. At most 1,000 of each. */
  listRunnable(caller: KeyOwner): Promise<readonly RunnableCard[]>;
  findRunnable(caller: KeyOwner, address: { creator: string; slug: string }): Promise<RunnableCard | undefined>;
  /** Tool names of its sub-agents. */
  boundNames(agent: Runnable): Promise<readonly string[]>;
  /** All agents that had this address, including deleted ones. */
  idsAt(address: AgentAddress): Promise<readonly string[]>;
  /** Whether an agent has this address, published and visible or not. */
  exists(address: AgentAddress): Promise<boolean>;
  /** Whether a key may run the agent: it lists the agent or the agent's model. */
  keyReachesAgent(caller: Caller, agent: Agent, snapshot: AgentSnapshot): Promise<boolean>;
  /** Also of deleted agents. */
  ownerOf(agentId: string): Promise<string | undefined>;
  /** Also of deleted agents: runs continue. */
  getRevision(agentId: string, revisionId: string): Promise<Revision | undefined>;
  /** At most 100 agents of the owner whose published or latest revision uses the resource. */
  agentsUsing(ownerId: string, resource: UsedResource): Promise<{ id: string; name: string }[]>;
  /** Charges of a run besides the price of the agent itself. */
  costsOf(callerId: string, agentIds: readonly string[]): Promise<(agentId: string) => AgentCosts>;
  takeDownAgent(agentId: string, reason: string): Promise<AgentWithRevision>;
  restoreAgent(agentId: string): Promise<AgentWithRevision>;
  /** All tools for agents, by id, in list order. */
  readonly tools: ReadonlyMap<string, ToolInfo>;
}

/** What decides which agents a key may run. */
type KeyOwner = Pick<Caller, "userId" | "models">;

export type AgentsDeps = Omit<AgentsContext, "tools"> & { connectorTools: readonly ToolInfo[] };

export function openAgents({ connectorTools, ...deps }: AgentsDeps): Agents {
  const context: AgentsContext = { ...deps, tools: toolTable(connectorTools) };
  return {
    createAgent: (caller, body) => createAgent(context, caller, body),
    readAgent: (caller, agentId) => readAgent(context, caller, agentId),
    listAgents: (caller, query) => listAgents(context, caller, query),
    changeAgent: (caller, agentId, body) => changeAgent(context, caller, agentId, body),
    deleteAgent: (caller, agentId) => deleteAgent(context, caller, agentId),
    publishAgent: (caller, agentId, body) => publishAgent(context, caller, agentId, body),
    listRevisions: (caller, agentId, range) => listRevisions(context, caller, agentId, range),
    readRevision: (caller, agentId, revisionId) => readRevision(context, caller, agentId, revisionId),
    exportRevisions: (caller) => exportRevisions(context, caller),
    diffRevision: (caller, agentId, revisionId, against) => diffRevision(context, caller, agentId, revisionId, against),
    getRunnable: (callerId, address, revisionId) => getRunnable(context, callerId, address, revisionId),
    lockRunnable,
    listRunnable: (caller) => listRunnable(context, caller),
    findRunnable: (caller, address) => findRunnable(context, caller, address),
    boundNames: (agent) => boundNames(context, agent),
    idsAt: (address) => idsAt(context, address),
    exists: (address) => exists(context, address),
    keyReachesAgent: (caller, agent, snapshot) => keyReachesAgent(context, caller, agent, snapshot),
    ownerOf: (agentId) => findOwner(context.database.sql, agentId),
    getRevision: (agentId, revisionId) => findRevision(context.database.sql, agentId, revisionId),
    agentsUsing: (ownerId, resource) => findUsing(context.database.sql, ownerId, resource),
    costsOf: (callerId, agentIds) => readCosts(context, callerId, agentIds),
    takeDownAgent: (agentId, reason) => takeDownAgent(context, agentId, reason),
    restoreAgent: (agentId) => restoreAgent(context, agentId),
    tools: context.tools,
  };
}
