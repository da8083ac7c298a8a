import { isDeepStrictEqual } from "node:util";
import type { ToolContent, ToolResult } from "../../engines/tools/tools.ts";

/** Limit of a result for the model, including the note about truncation. */
export const mostResultBytes = 65_536;
const markBytes = 200;
const longestLine = 500;

/** The result as text for the model. Binary content becomes a note. */
export function resultText(result: ToolResult, mask: (text: string) => string): { text: string; truncated: boolean } {
  const parts = result.content.map((content) => contentText(content, mask));
  if (result.structured !== undefined && !repeatsStructure(result)) parts.push(jsonOf(result.structured));
  const text = parts.filter((part) => part !== "").join("\n\n");
  return truncate(mask(text === "" ? emptyResult(result) : text));
}

function emptyResult({ isError }: ToolResult): string {
  return isError ? "The tool failed without a reason." : "(no content)";
}

function contentText(content: ToolContent, mask: (text: string) => string): string {
  // Masked before truncation, which could leave a part of a credential.
  const line = (text: string) => mask(text).replace(/\s+/g, " ").slice(0, longestLine);
  const typeNote = (mimeType: string | undefined) => (mimeType ? `, ${line(mimeType)}` : "");
  switch (content.type) {
    case "text":
      return content.text;
    case "image":
    case "audio":
      return `[${content.type}: ${line(content.mimeType)}, ${content.bytes} bytes]`;
    case "resource":
      return `[resource ${line(content.uri)}${typeNote(content.mimeType)}]\n${content.text}`;
    case "blob":
      return `[resource ${line(content.uri)}${typeNote(content.mimeType)}, ${content.bytes} bytes, no text]`;
    case "link": {
      const about = content.description ? `: ${line(content.description)}` : "";
      return `[link to ${line(content.name)} ${line(content.uri)}${typeNote(content.mimeType)}]${about}`;
    }
    case "unknown":
      return `[content of the type ${line(content.kind)}, which cannot be shown]`;
  }
}

/** Servers repeat structured content as text for older clients. */
function repeatsStructure({ content, structured }: ToolResult): boolean {
  return content.some((entry) => {
    if (entry.type !== "text" || !/^\s*[[{]/.test(entry.text)) return false;
    try {
      return isDeepStrictEqual(JSON.parse(entry.text), structured);
    } catch {
      return false;
    }
  });
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // JSON.stringify recurses, JSON.parse does not.
    return "[structured content nested too deeply to be shown]";
  }
}

function truncate(whole: string): { text: string; truncated: boolean } {
  // PostgreSQL stores neither NUL nor lone surrogates.
  const text = whole.replaceAll("\0", "\uFFFD").toWellFormed();
  const bytes = Buffer.byteLength(text);
  if (bytes <= mostResultBytes) return { text, truncated: false };
  const kept = Buffer.from(text).subarray(0, mostResultBytes - markBytes);
  const shown = kept.toString("utf8").replace(/\uFFFD+$/, "");
  const mark = `\n\n[cut: the result has ${bytes} bytes, these are its first ${Buffer.byteLength(shown)}]`;
  return { text: shown + mark, truncated: true };
}
