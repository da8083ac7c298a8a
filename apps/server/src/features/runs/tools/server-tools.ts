import { mayAuthorize } from "../../accounts/index.ts";
import type { DescribedTools, ModelTool, ToolServers } from "../../tool-servers/index.ts";
import { isOwnersOwnRun, type RunScope, type RunTool } from "./run-tool.ts";
import { outcomeOfFailure } from "./tool-failure.ts";

/** The tools of the agent's MCP servers, listed when a worker claims the run. */
export async function serverTools(
  toolServers: ToolServers,
  scope: RunScope,
  options: { taken: ReadonlySet<string>; signal: AbortSignal },
): Promise<{ tools: RunTool[]; missing: DescribedTools["missing"] }> {
  const { ownerId, userId, caller, baseUrl, snapshot } = scope;
  if (snapshot.mcp_servers.length === 0) return { tools: [], missing: [] };
  const { tools, missing } = await toolServers.describeTools(ownerId, snapshot.mcp_servers, {
    ...options,
    userId,
    baseUrl: caller && mayAuthorize(caller) ? baseUrl : undefined,
  });
  const isOwn = isOwnersOwnRun(scope);
  return { tools: tools.map((tool) => serverTool(toolServers, scope, tool, isOwn)), missing };
}

/** Other users do not see the name of the server or its message. */
const failedFor = {
  unknown: "The tool could not be reached, or failed. Whether it ran is unknown.",
  not_made: "The tool could not be reached. It did not run.",
} as const;

function serverTool(
  toolServers: ToolServers,
  { ownerId, userId }: RunScope,
  described: ModelTool,
  isOwn: boolean,
): RunTool {
  const { name, description, parameters, kind, asks, serverId, tool } = described;
  return {
    name,
    description,
    parameters,
    checksItself: true,
    kind,
    asks,
    async execute({ arguments: given, signal }) {
      try {
        const call = { ownerId, userId, serverId, tool, arguments: { ...given }, signal };
        const { text, isError, failure, needsAuthorization } = await toolServers.callTool(call);
        const isShown = failure === undefined || isOwn || needsAuthorization;
        return { text: isShown ? text : failedFor[failure], isError };
      } catch (error) {
        return outcomeOfFailure(error, signal);
      }
    },
    async target() {
      // By id: names of servers can be swapped.
      return JSON.stringify([serverId, (await toolServers.read(ownerId, serverId)).url, tool]);
    },
  };
}
