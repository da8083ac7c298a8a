import { OAuthError } from "../../engines/tools/oauth/oauth.ts";
import { ToolServerError } from "../../engines/tools/tools.ts";
import type { ToolServersContext } from "./context.ts";
import { toolsOf } from "./list-tools.ts";
import { linkFor } from "./oauth/links.ts";
import { nameTools } from "./tool-names.rules.ts";
import type { ToolServer } from "./tool-server.ts";
import { findServer } from "./use-server.ts";

/** A server of an agent. Without `tools`, the agent may use all tools of the server. */
export interface ServerBinding {
  id: string;
  tools?: readonly string[] | undefined;
}

/** A tool of a server as the model sees it. */
export interface ModelTool {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
  kind: "read" | "write";
  /** The server marks the tool as destructive, so a call needs a confirmation. */
  asks: boolean;
  serverId: string;
  serverName: string;
  /** The name that the server uses. */
  tool: string;
}

/** A tool of an agent that is not available now. Without `tool`, a whole server. */
export interface MissingTool {
  /** Undefined for a server that was deleted. */
  serverName: string | undefined;
  tool?: string;
  reason: string;
  /** The caller must authorize the server first. */
  authorization?: { host: string; url: string | undefined };
}

export interface DescribedTools {
  tools: ModelTool[];
  missing: (MissingTool & { serverId: string })[];
}

const tooMany = "The server lists more tools than Gantry reads, and this tool is not among the first";

export interface DescribeOptions {
  /** The caller of the run. */
  userId: string;
  /** Base of links to authorize a server; undefined if the caller may not authorize. */
  baseUrl?: string | undefined;
  taken?: ReadonlySet<string>;
  signal?: AbortSignal;
}

/** Lists the tools of an agent's servers for a run. Servers that do not answer are listed in `missing`. */
export async function describeTools(
  context: ToolServersContext,
  ownerId: string,
  bindings: readonly ServerBinding[],
  options: DescribeOptions,
): Promise<DescribedTools> {
  const found = await Promise.all(bindings.map((binding) => describeServer(context, ownerId, binding, options)));
  const named = nameTools(
    found.flatMap(({ tools }) => tools),
    options.taken,
  );
  return {
    tools: Array.from(named, ([name, tool]) => ({ ...tool, name })),
    missing: found.flatMap(({ missing }) => missing),
  };
}

async function describeServer(
  context: ToolServersContext,
  ownerId: string,
  { id: serverId, tools: wanted }: ServerBinding,
  { userId, baseUrl, signal }: DescribeOptions,
): Promise<{ tools: Omit<ModelTool, "name">[]; missing: DescribedTools["missing"] }> {
  const server = await findServer(context, ownerId, serverId);
  if (!server) return { tools: [], missing: [{ serverId, serverName: undefined, reason: "The server was deleted" }] };
  const serverName = server.name;
  try {
    const list = await toolsOf(context, server, { userId, signal });
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
    if (error.reason === "authorization_required") {
      const link = baseUrl === undefined ? undefined : await optionalLink(context, server, { userId, baseUrl });
      const authorization = { host: new URL(server.url).host, url: link };
      return { tools: [], missing: [{ serverId, serverName, reason: error.message, authorization }] };
    }
    return { tools: [], missing: [{ serverId, serverName, reason: error.message }] };
  }
}

/** The run goes on without the tools if the link cannot be created. */
async function optionalLink(
  context: ToolServersContext,
  server: ToolServer,
  wanted: { userId: string; baseUrl: string },
): Promise<string | undefined> {
  try {
    return (await linkFor(context, server, wanted))?.url;
  } catch (error) {
    if (error instanceof OAuthError) return undefined;
    throw error;
  }
}
