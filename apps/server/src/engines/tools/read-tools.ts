import type { Client } from "@modelcontextprotocol/client";
import { isRecord } from "../../kernel/is-record.ts";
import { isWithinDepth } from "../../kernel/storable-issues.ts";
import { anyObject, textOf } from "./json.ts";
import {
  descriptionMargin,
  longestDescription,
  type ServerTool,
  type ToolList,
  ToolServerError,
  type ToolServerTarget,
} from "./tools.ts";

const mostPages = 100;
const mostTools = 1000;
const longestName = 128;
const longestSchema = 65_536;
const deepestSchema = 32;
/** Names, descriptions and schemas together. */
const mostText = 4 * 1024 * 1024;

/** Replaces a schema that is too large. The server still checks the arguments. */
const anyArguments = { type: "object" };

const taskOnly = "Can only be called as a task, which is not supported";

/** Reads all pages, up to the limits. */
export async function readTools(
  client: Client,
  target: ToolServerTarget,
  signal: AbortSignal,
  timeout: number,
): Promise<ToolList> {
  const mostDescription = longestDescription + descriptionMargin(target);
  const tools = new Map<string, ServerTool>();
  const unusable = new Map<string, string>();
  const list = (isCut: boolean): ToolList => ({
    tools: [...tools.values()],
    unusable: Array.from(unusable, ([name, reason]) => ({ name, reason })),
    isCut,
  });
  if (client.getServerCapabilities()?.tools === undefined) return list(false);
  const seen = new Set<string>();
  let text = 0;
  let cursor: string | undefined;
  for (let page = 0; page < mostPages; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const result = await client.request({ method: "tools/list", params }, anyObject, { signal, timeout });
    if (!Array.isArray(result.tools)) throw new ToolServerError("protocol", "The server's list of tools is not a list");
    for (const entry of result.tools) {
      const read = readTool(entry, mostDescription);
      // The first tool of a name wins.
      if (!read || tools.has(read.tool.name) || unusable.has(read.tool.name)) continue;
      text += read.size;
      if (tools.size + unusable.size === mostTools || text > mostText) return list(true);
      if (read.isTaskOnly) unusable.set(read.tool.name, taskOnly);
      else tools.set(read.tool.name, read.tool);
    }
    cursor = textOf(result.nextCursor);
    // A repeated cursor would loop.
    if (cursor === undefined || cursor === "" || seen.has(cursor)) return list(false);
    seen.add(cursor);
  }
  return list(true);
}

function readTool(
  entry: unknown,
  mostDescription: number,
): { tool: ServerTool; size: number; isTaskOnly: boolean } | undefined {
  if (!isRecord(entry)) return undefined;
  const name = textOf(entry.name);
  // Other names cannot be bound, shown or called.
  if (!name || name.length > longestName || /[\p{Cc}\p{Cs}]/u.test(name)) return undefined;
  const annotations = isRecord(entry.annotations) ? entry.annotations : {};
  const description = (textOf(entry.description) ?? textOf(entry.title) ?? "").slice(0, mostDescription);
  const { parameters, size } = readSchema(entry.inputSchema);
  const readOnly = annotations.readOnlyHint === true;
  const destructive = !readOnly && annotations.destructiveHint === true;
  return {
    tool: { name, description: description.toWellFormed(), parameters, readOnly, destructive },
    size: name.length + description.length + size,
    isTaskOnly: isRecord(entry.execution) && entry.execution.taskSupport === "required",
  };
}

function readSchema(schema: unknown): { parameters: Record<string, unknown>; size: number } {
  if (!isRecord(schema) || !isWithinDepth(schema, deepestSchema)) return { parameters: anyArguments, size: 20 };
  const size = JSON.stringify(schema).length;
  if (size > longestSchema) return { parameters: anyArguments, size: 20 };
  // Models require the type "object", which some servers omit.
  return { parameters: { type: "object", ...schema }, size };
}
