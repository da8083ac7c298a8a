export type { AgentRunEnd, RunAgent } from "./context.ts";
export type { OfferedTool, ToolAnswer, ToolCall } from "./offered-tool.ts";
export { type McpTools, openMcpTools } from "./open-mcp-tools.ts";
export { runAgentFor } from "./run-agent.ts";
