export { type Agent, type AgentWithRevision, agentNotFound, type Revision, type SeenAgent } from "./agent.ts";
export { asToolBinding, bindingAsks, isAgentBinding } from "./binding.rules.ts";
export type { UsedResource } from "./binding-store.ts";
export { bindingOf, fixedRequest, secretNames, withSecrets } from "./fixed-request.rules.ts";
export type { Runnable } from "./get-runnable.ts";
export { type Agents, type AgentsDeps, openAgents } from "./open-agents.ts";
export type { AgentCosts } from "./prices.ts";
export type { AgentAddress, RevisionHead } from "./store.ts";
export type { ToolInfo } from "./tools.ts";
