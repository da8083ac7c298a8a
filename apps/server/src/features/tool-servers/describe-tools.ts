import { ToolServerError } from "../../engines/tools/tools.ts";
import type { ToolServersContext } from "./context.ts";
import { toolsOf } from "./list-tools.ts";
import { nameTools } from "./tool-names.rules.ts";
import { findServer } from "./use-server.ts";

/** One of an agent's servers; without `tools`, all of them. */
export interface ServerBinding {
  id: string;
  tools?: readonly string[] | undefined;
}

/** A server's tool as the model sees it, and the way back to the server. */
export interface ModelTool {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
  kind: "read" | "write";
  /** It calls itself destructive, so that it asks before it is called. */
  asks: boolean;
  serverId: string;
  serverName: string;
  /** As the server names it. */
  tool: string;
}

export interface DescribedTools {
  tools: ModelTool[];
  /** Servers, and tools of them, that the agent is to have and that are not there now. */
  missing: { serverId: string; serverName: string | undefined; tool?: string; reason: string }[];
}

const tooMany = "The server has more tools than are read, and this is none of those";

/** The tools of an agent's servers, for a run. A server that cannot be used is named, the others are listed. */
export async function describeTools(
  context: ToolServersContext,
  ownerId: string,
  bindings: readonly ServerBinding[],
  options: { taken?: ReadonlySet<string>; signal?: AbortSignal } = {},
): Promise<DescribedTools> {
  const found = await Promise.all(bindings.map((binding) => ofServer(context, ownerId, binding, options.signal)));
  const named = nameTools(
    found.flatMap(({ tools }) => tools),
    options.taken,
  );
  return {
    tools: Array.from(named, ([name, tool]) => ({ ...tool, name })),
    missing: found.flatMap(({ missing }) => missing),
  };
}

async function ofServer(
  context: ToolServersContext,
  ownerId: string,
  { id: serverId, tools: wanted }: ServerBinding,
  signal: AbortSignal | undefined,
): Promise<{ tools: Omit<ModelTool, "name">[]; missing: DescribedTools["missing"] }> {
  const server = await findServer(context, ownerId, serverId);
  if (!server) return { tools: [], missing: [{ serverId, serverName: undefined, reason: "The server was deleted" }] };
  const serverName = server.name;
  try {
    const list = await toolsOf(context, server, { signal });
    const isWanted = ({ name }: { name: string }) => wanted?.includes(name) ?? true;
    const tools = list.tools.filter(isWanted).map(({ name: tool, description, parameters, readOnly, destructive }) => ({
      description,
      parameters,
      kind: readOnly ? ("read" as const) : ("write" as const),
      asks: destructive,
      serverId,
      serverName,
      tool,
    }));
    const unusable = list.unusable.filter(isWanted);
    const names = new Set([...tools.map(({ tool }) => tool), ...unusable.map(({ name }) => name)]);
    const gone = (wanted ?? []).filter((name) => !names.has(name));
    const reason = list.isCut ? tooMany : "The server has no such tool";
    const missing = [...unusable, ...gone.map((name) => ({ name, reason }))];
    return { tools, missing: missing.map(({ name: tool, reason }) => ({ serverId, serverName, tool, reason })) };
  } catch (error) {
    if (!(error instanceof ToolServerError)) throw error;
    return { tools: [], missing: [{ serverId, serverName, reason: error.message }] };
  }
}
