import { fault } from "../../kernel/errors.ts";
import type { Caller } from "../accounts/index.ts";
import type { SeenAgent } from "../agents/index.ts";
import type { McpToolsContext } from "./context.ts";
import { describeAction, describeAgent, describeModel } from "./describe-tool.rules.ts";
import { isCallable, readActions } from "./find-tool.ts";
import { createMayAsk } from "./may-ask.ts";
import type { OfferedTool } from "./offered-tool.ts";

export interface ToolPage {
  tools: OfferedTool[];
  nextCursor?: string;
}

interface Part {
  tools: OfferedTool[];
  /** How many rows were looked at; not all of them need be offered. */
  read: number;
  isLast: boolean;
}

interface Range {
  limit: number;
  offset: number;
}

type Source = (context: McpToolsContext, caller: Caller, range: Range) => Promise<Part>;

const pageSize = 100;
/** Models come last, because they alone can be many, and some clients read no second page. */
const sources: readonly (readonly [string, Source])[] = [
  ["agents", agentsPart],
  ["actions", actionsPart],
  ["models", modelsPart],
];

/** A page is what a hundred rows yield. A cursor says where the next one begins. */
export async function listTools(
  context: McpToolsContext,
  caller: Caller,
  cursor: string | undefined,
): Promise<ToolPage> {
  let { at, offset } = readCursor(cursor);
  const tools: OfferedTool[] = [];
  for (let room = pageSize; ; ) {
    const [name, source] = sources[at] ?? [];
    if (!source) return { tools };
    if (room === 0) return { tools, nextCursor: `${name}.${offset}` };
    const part = await source(context, caller, { limit: room, offset });
    tools.push(...part.tools);
    room -= part.read;
    if (part.isLast) [at, offset] = [at + 1, 0];
    else offset += part.read;
  }
}

function readCursor(cursor: string | undefined): { at: number; offset: number } {
  if (cursor === undefined) return { at: 0, offset: 0 };
  const [, name, offset] = /^([a-z]+)\.(\d{1,9})$/.exec(cursor) ?? [];
  const at = sources.findIndex(([source]) => source === name);
  if (at === -1) throw fault("invalid_parameters", "The cursor is none that this server gave", { loc: ["cursor"] });
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
    if (!published || !isCallable(caller, published.snapshot)) return [];
    const { slug, snapshot } = published;
    if ((await mayAsk(caller.userId, snapshot)) !== "no") return [];
    const { name, goal } = snapshot;
    const shown = entry.isCard ? { name } : { name, goal };
    return [describeAgent(slug, shown, context.objectParameters(snapshot.input_schema).schema)];
  }

  /** What a run would execute; the list has the latest revisions. */
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
  const active = entries.filter(({ manifest }) => manifest.capacity > 0);
  return {
    tools: active.map((model) => describeModel(model, caller)),
    read: entries.length,
    isLast: isEnd(range, entries, total),
  };
}

/** An empty page is the end too: what the cursor counts on may have been deleted since. */
function isEnd({ offset }: Range, entries: readonly unknown[], total: number): boolean {
  return entries.length === 0 || offset + entries.length >= total;
}
