import type { AgentSnapshot } from "@gantry/wire";
import { fault } from "../../kernel/errors.ts";
import { type Caller, isConfined, isPlainMember } from "../accounts/index.ts";
import type { Agent, Runnable, SeenAgent } from "../agents/index.ts";
import { isChosen, type Model } from "../models/index.ts";
import type { McpToolsContext, OfferedTool } from "./context.ts";
import { describeAction, describeAgent, describeModel, takesObject } from "./describe-tool.rules.ts";
import { createMayAsk, unlessMissing } from "./may-ask.ts";
import { modelToolName, readToolName } from "./tool-names.rules.ts";

export interface ToolPage {
  tools: OfferedTool[];
  nextCursor?: string;
}

interface Part {
  tools: OfferedTool[];
  /** Rows read; not all of them are offered. */
  read: number;
  isLast: boolean;
}

interface Range {
  limit: number;
  offset: number;
}

type Source = (context: McpToolsContext, caller: Caller, range: Range) => Promise<Part>;

const pageSize = 100;
/** Models come last: only they are numerous, and some clients read only the first page. */
const sources: readonly (readonly [string, Source])[] = [
  ["agents", agentsPart],
  ["actions", actionsPart],
  ["models", modelsPart],
];

/** A page contains the tools of a hundred rows; the cursor is the position of the next row. */
export async function listTools(
  context: McpToolsContext,
  caller: Caller,
  cursor: string | undefined,
): Promise<ToolPage> {
  let { at, offset } = readCursor(cursor);
  const tools: OfferedTool[] = [];
  for (let left = pageSize; ; ) {
    const [name, source] = sources[at] ?? [];
    if (!source) return { tools };
    if (left === 0) return { tools, nextCursor: `${name}.${offset}` };
    const part = await source(context, caller, { limit: left, offset });
    tools.push(...part.tools);
    left -= part.read;
    if (part.isLast) [at, offset] = [at + 1, 0];
    else offset += part.read;
  }
}

function readCursor(cursor: string | undefined): { at: number; offset: number } {
  if (cursor === undefined) return { at: 0, offset: 0 };
  const [, name, offset] = /^([a-z]+)\.(\d{1,9})$/.exec(cursor) ?? [];
  const at = sources.findIndex(([source]) => source === name);
  if (at === -1)
    throw fault("invalid_parameters", "Unknown cursor. Use the nextCursor of an earlier page.", { loc: ["cursor"] });
  return { at, offset: Number(offset) };
}

async function agentsPart(context: McpToolsContext, caller: Caller, range: Range): Promise<Part> {
  const { agents } = context;
  const { entries, total } = await agents.listAgents(caller, { ...range, visibility: undefined });
  const mayAsk = createMayAsk(context);
  const offered = await Promise.all(entries.map(offerOf));
  return { tools: offered.flat(), read: entries.length, isLast: isEnd(range, entries, total) };

  async function offerOf(entry: SeenAgent): Promise<OfferedTool[]> {
    const published = await publishedOf(entry);
    if (!published || !(await isCallable(context, caller, entry.agent, published.snapshot))) return [];
    const { slug, snapshot } = published;
    if ((await mayAsk(caller.userId, snapshot)) !== "no") return [];
    const { name, description, goal } = snapshot;
    const shown = { name, description, ...(!entry.isCard && { goal }) };
    return [describeAgent(slug, shown, context.objectParameters(snapshot.input_schema).schema)];
  }

  /** Runs execute the published revision; the list has the latest one. */
  async function publishedOf({ agent, revision }: SeenAgent) {
    const { slug, publishedRevisionId: id } = agent;
    if (id === null) return undefined;
    const { snapshot } = id === revision.id ? revision : await agents.readRevision(caller, agent.id, id);
    return { slug, snapshot };
  }
}

async function actionsPart(context: McpToolsContext, caller: Caller, { limit, offset }: Range): Promise<Part> {
  const all = await readActions(context, caller);
  const actions = all.slice(offset, offset + limit);
  return { tools: actions.map(describeAction), read: actions.length, isLast: offset + limit >= all.length };
}

async function modelsPart({ models }: McpToolsContext, caller: Caller, range: Range): Promise<Part> {
  const { entries, total } = await models.listModels(caller, { ...range, withoutOthers: true });
  // Vectors are of no use to the model behind an MCP client.
  const active = entries.filter(({ manifest }) => manifest.capacity > 0 && manifest.kind !== "embedding");
  return {
    tools: active.map((model) => describeModel(model, caller)),
    read: entries.length,
    isLast: isEnd(range, entries, total),
  };
}

/** An empty page is the end too: rows may have been deleted since the last page. */
function isEnd({ offset }: Range, entries: readonly unknown[], total: number): boolean {
  return entries.length === 0 || offset + entries.length >= total;
}

export type FoundTool =
  | { kind: "model"; model: Model }
  | { kind: "agent"; runnable: Runnable }
  | { kind: "action"; name: string };

/** Undefined if the tool is not offered to the caller. Rejects like the routes if a model refuses the caller. */
export async function findTool(context: McpToolsContext, caller: Caller, name: string): Promise<FoundTool | undefined> {
  const address = readToolName(name);
  switch (address?.kind) {
    case "model":
      return findModel(context, caller, address.owner, address.name);
    case "cut-model": {
      const whole = await findCutModel(context, caller, name, `${address.owner}/${address.prefix}`);
      return whole && findModel(context, caller, whole.owner, whole.name);
    }
    case "agent":
      return findAgent(context, caller, address.slug);
    case "action": {
      const isThere = (await readActions(context, caller)).some(({ id }) => id === name);
      return isThere ? { kind: "action", name } : undefined;
    }
    default:
      return undefined;
  }
}

/** Read actions of the caller's connector, if it has one and may use it: as the route of its actions decides. */
export async function readActions({ idp }: McpToolsContext, caller: Caller) {
  if (isConfined(caller) || isPlainMember(caller)) return [];
  const connector = await unlessMissing(idp.read(caller.userId));
  return connector ? idp.describeTools().filter(({ kind }) => kind === "read") : [];
}

/** Public models of other users are offered only if the key names them: their text reaches the client's model. */
async function findModel({ models }: McpToolsContext, caller: Caller, owner: string, name: string) {
  const found = await models.getModel(`${owner}/${name}`);
  if (!found || !isChosen(caller, found)) return undefined;
  const model = await unlessMissing(models.resolveForCall(caller, owner, name));
  return model && { kind: "model" as const, model };
}

/** Agents that may need a confirmation are not offered: MCP clients cannot answer one. */
async function findAgent(context: McpToolsContext, caller: Caller, slug: string) {
  const { agents } = context;
  const runnable = await unlessMissing(agents.getRunnable(caller.userId, { creator: caller.username, slug }));
  if (!runnable || !(await isCallable(context, caller, runnable.agent, runnable.revision.snapshot))) return undefined;
  switch (await createMayAsk(context)(caller.userId, runnable.revision.snapshot)) {
    case "yes":
      return undefined;
    case "unknown":
      throw fault(
        "downstream_service_unavailable",
        "A tool server of the agent does not answer, so Gantry cannot tell whether the agent needs a confirmation. Try again later.",
      );
    case "no":
      return { kind: "agent" as const, runnable };
  }
}

/** Whether a call can start a run: the key has access to the agent, and the input can be an object. */
async function isCallable(
  { agents }: McpToolsContext,
  caller: Caller,
  agent: Agent,
  snapshot: AgentSnapshot,
): Promise<boolean> {
  return takesObject(snapshot.input_schema) && agents.keyReachesAgent(caller, agent, snapshot);
}

async function findCutModel({ models }: McpToolsContext, caller: Caller, toolName: string, q: string) {
  for (let offset = 0; ; offset += pageSize) {
    const { entries, total } = await models.listModels(caller, { limit: pageSize, offset, q, withoutOthers: true });
    const found = entries.find((model) => modelToolName(model) === toolName);
    if (found || entries.length === 0 || offset + entries.length >= total) return found;
  }
}
