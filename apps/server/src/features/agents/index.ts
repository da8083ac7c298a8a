export type { Agent, AgentWithRevision, Revision } from "./agent.ts";
export { asksForConfirmation, bindingAsks } from "./asks.rules.ts";
export type { Runnable } from "./get-runnable.ts";
export { type Agents, type AgentsDeps, openAgents } from "./open-agents.ts";
export { storableIssues } from "./storable.rules.ts";
export type { AgentAddress, RevisionHead, UsedThing } from "./store.ts";
export type { ToolInfo } from "./tools.ts";
