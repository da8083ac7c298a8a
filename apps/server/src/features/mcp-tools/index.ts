export type { AgentRunEnd, OfferedTool, RunAgent, ToolAnswer, ToolCall } from "./context.ts";
export { type McpTools, openMcpTools } from "./open-mcp-tools.ts";
export { runAgentFor } from "./run-agent.ts";
