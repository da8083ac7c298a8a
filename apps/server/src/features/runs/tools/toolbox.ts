import type { AgentBinding, AgentTool, ToolBinding } from "@gantry/wire";
import type { ChatTool } from "../../../engines/models/chat.ts";
import { Fault, fault } from "../../../kernel/errors.ts";
import { foreignSchema, quotedText } from "../../../kernel/foreign-text.ts";
import { type Caller, keyReaches } from "../../accounts/index.ts";
import { type Agents, bindingAsks, type Runnable } from "../../agents/index.ts";
import { isOwnersOwnRun, type RunScope, type RunTool } from "./run-tool.ts";

/** A tool of a run: one that is executed here, or an agent that gets a run of its own. */
export type BoxedTool = (
  | { kind: "tool"; tool: RunTool }
  | { kind: "agent"; child: Runnable; binding: AgentBinding }
) & {
  name: string;
  description: string;
  /** What the model may choose: without the binding's fixed values. */
  parameters: Record<string, unknown>;
  /** Whether it asks before it is called, unless the caller allowed it beforehand. */
  asks: boolean;
  fixed: Readonly<Record<string, unknown>>;
};

export interface Toolbox {
  /** As they are at this moment. */
  readonly tools: readonly ChatTool[];
  find(name: string): BoxedTool | undefined;
  /** Whether a tool of that name may be there after all: the server that it is named for could not be asked. */
  mayBeAway(name: string): boolean;
  /** An agent among them was published anew: from now on it is offered, and its calls are checked, as it is now. */
  follow(name: string, child: Runnable): void;
  /** About what the agent is to have and is not there now, as whoever runs it may know it. */
  missing: readonly string[];
}

export interface ToolboxDeps {
  agents: Pick<Agents, "getRunnable">;
  toolsFor(
    scope: RunScope,
    options: { signal: AbortSignal },
  ): Promise<{ tools: RunTool[]; missing: readonly MissingTool[] }>;
}

export interface MissingTool {
  serverName: string | undefined;
  tool?: string;
  reason: string;
}

/** Everything that an agent may call in a run, under names that no two share. */
export async function openToolbox(deps: ToolboxDeps, scope: RunScope, signal: AbortSignal): Promise<Toolbox> {
  const { snapshot } = scope;
  const { tools, missing } = await deps.toolsFor(scope, { signal });
  const bindings = new Map<string, string | ToolBinding>();
  for (const tool of snapshot.tools) if (!isAgentBinding(tool)) bindings.set(bindingId(tool), tool);
  const boxed: BoxedTool[] = tools.map((tool) => boxTool(scope, tool, bindings.get(tool.name)));
  const gone = missing.map(({ serverName, tool, reason }) =>
    [serverName ?? "a tool server", tool, reason].filter((part) => part !== undefined).join(": "),
  );
  for (const binding of snapshot.tools.filter(isAgentBinding)) {
    try {
      const child = await deps.agents.getRunnable(scope.ownerId, { agentId: binding.agent_id });
      if (scope.caller) refuseOutOfReach(scope.caller, child);
      boxed.push(boxAgent(scope, binding, child));
    } catch (error) {
      if (!(error instanceof Fault) || error.type === "service_unavailable") throw error;
      gone.push(`the agent ${binding.name ?? binding.agent_id}: ${error.message}`);
    }
  }
  const byName = new Map<string, BoxedTool>();
  for (const one of boxed) if (!byName.has(one.name)) byName.set(one.name, one);
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
      // Its name in the run stays, also where it was made of a slug that is another one now.
      if (known?.kind === "agent") byName.set(name, { ...boxAgent(scope, known.binding, child), name });
    },
    missing: shownMissing(scope, gone),
  };
}

/** What an agent is made of is its creator's alone. A model repeats what it is told, so it is told no more than others. */
function shownMissing(scope: RunScope, gone: readonly string[]): readonly string[] {
  if (isOwnersOwnRun(scope) || gone.length === 0) return gone;
  return [`${gone.length} of what the agent is to have`];
}

function bindingId(tool: string | ToolBinding): string {
  return typeof tool === "string" ? tool : tool.id;
}

/** The key that pays is confined in what its runs start, too. */
export function refuseOutOfReach(caller: Caller, { revision }: Runnable): void {
  if (keyReaches(caller, revision.snapshot.model)) return;
  throw fault("forbidden", "The API key that started the run does not have access to its model");
}

function isAgentBinding(tool: AgentTool): tool is AgentBinding {
  return typeof tool !== "string" && tool.type === "agent";
}

function boxTool(scope: RunScope, tool: RunTool, binding: string | ToolBinding | undefined): BoxedTool {
  const fixed = (typeof binding === "object" ? binding.arguments : undefined) ?? {};
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
 * Fixed values may be the creator's secrets, such as the header of a request: nobody else sees them. What goes to the
 * caller's own tenant is shown, for it is the caller who answers for it.
 */
function hidingFixed(scope: RunScope, tool: RunTool, fixed: readonly string[]): RunTool {
  if (fixed.length === 0 || isOwnersOwnRun(scope) || tool.name.startsWith("idp_")) return tool;
  const hide = (args: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(Object.entries(args).map(([name, value]) => [name, fixed.includes(name) ? "[fixed]" : value]));
  return {
    ...tool,
    execute: (call) => tool.execute({ ...call, hidden: fixed }),
    mask: (args) => hide(tool.mask?.(args) ?? args),
  };
}

/** What the agent's list of tools says; a server's tool stands in none, and says it of itself. */
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
  // The fixed values count as well.
  const least = Number(parameters.minProperties ?? 0) - names.length;
  const { minProperties: _ofAll, ...rest } = parameters;
  return { ...rest, properties, required, ...(least > 0 && { minProperties: least }) };
}

/** What another creator wrote of an agent is marked as theirs for the model that may call it. */
function boxAgent({ ownerId }: Pick<RunScope, "ownerId">, binding: AgentBinding, child: Runnable): BoxedTool {
  const { snapshot } = child.revision;
  const { owner } = child.agent;
  const isTheirs = child.agent.ownerId !== ownerId;
  const schema = isTheirs ? foreignSchema(owner, snapshot.input_schema) : snapshot.input_schema;
  const named = isTheirs ? `${quotedText(snapshot.name)} of user ${owner}` : `"${snapshot.name}"`;
  return {
    kind: "agent",
    child,
    binding,
    name: binding.name ?? child.agent.slug.slice(0, 64),
    description: binding.description ?? `The agent ${named}.`,
    parameters: { type: "object", ...schema },
    asks: false,
    fixed: {},
  };
}
