import type { AgentBinding, ToolBinding } from "@gantry/wire";
import type { ChatTool } from "../../../engines/models/chat.ts";
import { Fault, fault, isUnavailable } from "../../../kernel/errors.ts";
import { foreignSchema, foreignText, quotedText } from "../../../kernel/foreign-text.ts";
import type { Caller } from "../../accounts/index.ts";
import { type Agents, asToolBinding, bindingAsks, isAgentBinding, type Runnable } from "../../agents/index.ts";
import type { MissingTool } from "../../tool-servers/index.ts";
import { isOpenRun, type RunScope, type RunTool } from "./run-tool.ts";

/** A tool of a run, or a sub-agent, which gets its own run. */
export type BoxedTool = (
  | { kind: "tool"; tool: RunTool }
  | { kind: "agent"; child: Runnable; binding: AgentBinding }
) & {
  name: string;
  description: string;
  /** Arguments that the model chooses: without the fixed values of the binding. */
  parameters: Record<string, unknown>;
  /** Whether a call needs a confirmation, unless the caller approved it in advance. */
  asks: boolean;
  fixed: Readonly<Record<string, unknown>>;
};

export interface Toolbox {
  readonly tools: readonly ChatTool[];
  find(name: string): BoxedTool | undefined;
  /** Whether the tool may belong to a server that did not answer. */
  mayBeAway(name: string): boolean;
  /** Replaces a sub-agent by its new revision. */
  follow(name: string, child: Runnable): void;
  /** Missing tools, as the caller may know them. */
  missing: readonly string[];
  /** What the caller must authorize, with links. Not for the model, which could pass a link on. */
  authorizations: readonly string[];
}

export interface ToolboxDeps {
  agents: Pick<Agents, "getRunnable" | "keyReachesAgent">;
  toolsFor(
    scope: RunScope,
    options: { signal: AbortSignal },
  ): Promise<{ tools: RunTool[]; missing: readonly MissingTool[] }>;
}

export async function openToolbox(deps: ToolboxDeps, scope: RunScope, signal: AbortSignal): Promise<Toolbox> {
  const { snapshot } = scope;
  const { tools, missing } = await deps.toolsFor(scope, { signal });
  const bindings = new Map<string, string | ToolBinding>();
  for (const tool of snapshot.tools) if (!isAgentBinding(tool)) bindings.set(asToolBinding(tool).id, tool);
  const boxed: BoxedTool[] = tools.map((tool) => boxTool(scope, tool, bindings.get(tool.name)));
  const unauthorized = missing.filter(({ authorization }) => authorization !== undefined);
  const gone = missing
    .filter(({ authorization }) => authorization === undefined)
    .map(({ serverName, tool, reason }) =>
      [serverName ?? "a tool server", tool, reason].filter((part) => part !== undefined).join(": "),
    );
  for (const binding of snapshot.tools.filter(isAgentBinding)) {
    try {
      const child = await deps.agents.getRunnable(scope.ownerId, { agentId: binding.agent_id });
      if (scope.caller && !scope.isListed) await refuseOutOfReach(deps, scope.caller, child);
      boxed.push(boxAgent(scope, binding, child));
    } catch (error) {
      if (!(error instanceof Fault) || isUnavailable(error)) throw error;
      gone.push(`the agent ${binding.name ?? binding.agent_id}: ${error.message}`);
    }
  }
  const byName = new Map<string, BoxedTool>();
  for (const tool of boxed) if (!byName.has(tool.name)) byName.set(tool.name, tool);
  return {
    get tools() {
      return [...byName.values()].map(({ name, description, parameters }) => ({ name, description, parameters }));
    },
    find: (name) => byName.get(name),
    mayBeAway: (name) =>
      missing.some(
        ({ serverName, tool }) => serverName !== undefined && tool === undefined && name.startsWith(`${serverName}__`),
      ),
    follow(name, child) {
      const known = byName.get(name);
      // The name stays the same within a run, even if the slug changed.
      if (known?.kind === "agent") byName.set(name, { ...boxAgent(scope, known.binding, child), name });
    },
    missing: [...shownMissing(scope, gone), ...unauthorized.map(asUnauthorized)],
    authorizations: unauthorized.map(asRequest),
  };
}

/** Others do not see which tools of the creator are missing. Neither does their model, because it may repeat the text. */
function shownMissing(scope: RunScope, gone: readonly string[]): readonly string[] {
  if (isOpenRun(scope) || gone.length === 0) return gone;
  return [`${gone.length} of the agent's tools`];
}

/** The caller learns the name of a server that needs their own authorization. */
const asUnauthorized = ({ serverName }: MissingTool) => `tools of ${serverName}, which the user has not authorized`;

function asRequest({ serverName, authorization }: MissingTool): string {
  const where = authorization?.url ?? "see the authorizations of the agent";
  return `${serverName} (${authorization?.host}) requires your authorization: ${where}`;
}

/** The limits of the caller's key also apply to sub-agents. */
export async function refuseOutOfReach(
  { agents }: { agents: Pick<Agents, "keyReachesAgent"> },
  caller: Caller,
  { agent, revision }: Runnable,
): Promise<void> {
  if (await agents.keyReachesAgent(caller, agent, revision.snapshot)) return;
  throw fault("forbidden", "The API key that started the run does not have access to the model of this agent");
}

function boxTool(scope: RunScope, tool: RunTool, binding: string | ToolBinding | undefined): BoxedTool {
  const values = (typeof binding === "object" ? binding.arguments : undefined) ?? {};
  const fixed = Object.fromEntries(Object.entries(values).filter(([name]) => !tool.settings?.includes(name)));
  return {
    kind: "tool",
    tool: hidingFixed(scope, tool, Object.keys(fixed)),
    name: tool.name,
    description: tool.description,
    parameters: withoutFixed(tool.parameters, fixed),
    asks: asksBefore(tool, binding),
    fixed,
  };
}

/**
 * Fixed values may be secrets of the creator, so other users and applications do not see them. Values for the caller's
 * own tenant are shown, because the caller is responsible for them.
 */
function hidingFixed(scope: RunScope, tool: RunTool, fixed: readonly string[]): RunTool {
  if (fixed.length === 0 || isOpenRun(scope) || tool.name.startsWith("idp_")) return tool;
  const hide = (args: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(Object.entries(args).map(([name, value]) => [name, fixed.includes(name) ? "[fixed]" : value]));
  return {
    ...tool,
    execute: (call) => tool.execute({ ...call, hidden: fixed }),
    mask: (args) => hide(tool.mask?.(args) ?? args),
  };
}

/** Tools of servers have no binding and decide themselves. */
function asksBefore(tool: RunTool, binding: string | ToolBinding | undefined): boolean {
  return binding === undefined ? tool.asks : bindingAsks(binding, { id: tool.name, kind: tool.kind });
}

function withoutFixed(
  parameters: Record<string, unknown>,
  fixed: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const names = Object.keys(fixed);
  if (names.length === 0) return parameters;
  const properties = { ...(parameters.properties as Record<string, unknown> | undefined) };
  for (const name of names) delete properties[name];
  const required = ((parameters.required as string[] | undefined) ?? []).filter((name) => !names.includes(name));
  // Fixed values count too.
  const least = Number(parameters.minProperties ?? 0) - names.length;
  const { minProperties: _ofAll, ...rest } = parameters;
  return { ...rest, properties, required, ...(least > 0 && { minProperties: least }) };
}

/** Text by another creator is marked as such for the model. */
function boxAgent({ ownerId }: Pick<RunScope, "ownerId">, binding: AgentBinding, child: Runnable): BoxedTool {
  const { snapshot } = child.revision;
  const { owner } = child.agent;
  const isTheirs = child.agent.ownerId !== ownerId;
  const schema = isTheirs ? foreignSchema(owner, snapshot.input_schema) : snapshot.input_schema;
  const about = snapshot.description ?? "";
  const described = isTheirs && about !== "" ? foreignText(owner, about) : about;
  const named = isTheirs ? `${quotedText(snapshot.name)} of user ${owner}` : `"${snapshot.name}"`;
  return {
    kind: "agent",
    child,
    binding,
    name: binding.name ?? child.agent.slug.slice(0, 64),
    description: binding.description ?? `The agent ${named}. ${described}`.trimEnd(),
    parameters: { type: "object", ...schema },
    asks: false,
    fixed: {},
  };
}
