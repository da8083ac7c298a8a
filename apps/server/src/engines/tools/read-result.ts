import { isRecord } from "../../kernel/is-record.ts";
import { type Json, textOf } from "./json.ts";
import type { ToolContent, ToolResult } from "./tools.ts";

const mostEntries = 1000;

export function readResult(result: Json): ToolResult {
  const unfinished = unfinishedBy(result);
  if (unfinished !== undefined) {
    return { content: [{ type: "text", text: unfinished }], structured: undefined, isError: true };
  }
  const entries = Array.isArray(result.content) ? result.content.slice(0, mostEntries) : [];
  return {
    content: entries.filter(isRecord).map(readContent),
    structured: result.structuredContent,
    isError: result.isError === true,
  };
}

/** Requests for input and tasks cannot be continued. The library removes `resultType`, so other fields identify them. */
function unfinishedBy({ content, inputRequests, requestState, task }: Json): string | undefined {
  if (content !== undefined) return undefined;
  if (isRecord(inputRequests) || requestState !== undefined) {
    return "The tool asks for more input than its arguments, which is not supported";
  }
  return isRecord(task) ? "The tool started a task, which is not supported" : undefined;
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
      return readResource(isRecord(entry.resource) ? entry.resource : {});
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

/** Base64. The bytes themselves are useless to a text model. */
function decodedLength(data: unknown): number {
  return typeof data === "string" ? Buffer.byteLength(data, "base64") : 0;
}
