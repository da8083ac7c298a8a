import { isObject, type Json, textOf } from "./json.ts";
import type { ToolContent, ToolResult } from "./tools.ts";

const mostEntries = 1000;

export function readResult(result: Json): ToolResult {
  const unfinished = unfinishedBy(result);
  if (unfinished !== undefined) {
    return { content: [{ type: "text", text: unfinished }], structured: undefined, isError: true };
  }
  const entries = Array.isArray(result.content) ? result.content.slice(0, mostEntries) : [];
  return {
    content: entries.filter(isObject).map(readContent),
    structured: result.structuredContent,
    isError: result.isError === true,
  };
}

/**
 * Why this is no result yet, where it is none: nobody here can go on from it. The library takes the `resultType` away, so
 * that it is told by what comes with it.
 */
function unfinishedBy({ content, inputRequests, requestState, task }: Json): string | undefined {
  if (content !== undefined) return undefined;
  if (isObject(inputRequests) || requestState !== undefined) {
    return "The tool asks for more input than its arguments, which cannot be given";
  }
  return isObject(task) ? "The tool began a task, whose end cannot be waited for" : undefined;
}

function readContent(entry: Json): ToolContent {
  const mimeType = textOf(entry.mimeType);
  switch (entry.type) {
    case "text":
      return { type: "text", text: textOf(entry.text) ?? "" };
    case "image":
    case "audio":
      return { type: entry.type, mimeType: mimeType ?? "unknown type", bytes: decodedLength(entry.data) };
    case "resource":
      return readResource(isObject(entry.resource) ? entry.resource : {});
    case "resource_link":
      return {
        type: "link",
        uri: textOf(entry.uri) ?? "",
        name: textOf(entry.title) ?? textOf(entry.name) ?? "",
        mimeType,
        description: textOf(entry.description),
      };
    default:
      return { type: "unknown", kind: textOf(entry.type) ?? "" };
  }
}

function readResource(resource: Json): ToolContent {
  const uri = textOf(resource.uri) ?? "";
  const mimeType = textOf(resource.mimeType);
  const text = textOf(resource.text);
  if (text !== undefined) return { type: "resource", uri, mimeType, text };
  return { type: "blob", uri, mimeType, bytes: decodedLength(resource.blob) };
}

/** Of base64; the bytes themselves are of no use to a model that reads text. */
function decodedLength(data: unknown): number {
  return typeof data === "string" ? Buffer.byteLength(data, "base64") : 0;
}
