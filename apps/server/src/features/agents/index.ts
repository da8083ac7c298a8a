export type { Agent, AgentWithRevision, Revision } from "./agent.ts";
export { agentNotFound } from "./agent-faults.ts";
export { bindingAsks } from "./asks.rules.ts";
export { asToolBinding, isAgentBinding, isConnectorAction } from "./binding.rules.ts";
export type { Runnable } from "./get-runnable.ts";
export { type Agents, type AgentsDeps, openAgents } from "./open-agents.ts";
export type { AgentCosts } from "./read-costs.ts";
export type { AgentAddress, RevisionHead, UsedThing } from "./store.ts";
export type { ToolInfo } from "./tools.ts";
