import { DocumentError, type Documents, type ReadDocument } from "../../../engines/documents/documents.ts";
import { type Download, type Net, NetError } from "../../../engines/net/net.ts";
import { Fault, isUnavailable } from "../../../kernel/errors.ts";
import { foreignContent } from "../../../kernel/foreign-text.ts";
import type { ToolInfo } from "../../agents/index.ts";
import type { RunScope, RunTool, ToolCallRequest, ToolOutcome } from "./run-tool.ts";
import { maxShownBytes } from "./shown-content.ts";
import { failedWith } from "./tool-failure.ts";

/** 5 MB. */
const maxBytes = 5_242_880;
const maxChars = 40_000;
/** For title, address and notes. */
const spareBytes = 10_000;
const longestTitle = 300;
const accept =
  "text/html,application/xhtml+xml,text/markdown,text/plain,application/json,application/pdf;q=0.9,*/*;q=0.5";

export interface WebFetchDeps {
  net: Pick<Net, "download">;
  documents: Pick<Documents, "read">;
  limitMs?: number;
}

/** Reads one public page. Redirects are followed, and each address is checked. */
export function webFetchTool(info: ToolInfo, deps: WebFetchDeps, scope: RunScope): RunTool {
  return {
    name: info.id,
    description: info.description,
    parameters: info.parameters,
    kind: info.kind,
    asks: false,
    execute: (call) => fetchPage(deps, scope, call),
  };
}

async function fetchPage(deps: WebFetchDeps, scope: RunScope, call: ToolCallRequest): Promise<ToolOutcome> {
  const { url, start = 0 } = call.arguments;
  const { signal } = call;
  const isFixed = call.hidden?.includes("url") ?? false;
  try {
    const {
      body,
      contentType,
      filename,
      url: address,
    } = await deps.net.download(String(url), {
      maxBytes,
      signal,
      totalMs: deps.limitMs ?? 30_000,
      accept,
    });
    const bytes = await bytesOf(body);
    const type = contentType?.toLowerCase() ?? "";
    // The name says less than a declared type: pages may end in .php or .json.
    const isDeclared = type !== "" && !type.startsWith("application/octet-stream");
    const named = { type: contentType, url: address, ...(!isDeclared && { name: filename }) };
    const document = await deps.documents.read(bytes, named, { userId: scope.userId, signal });
    return { text: shownPage(document, isFixed ? undefined : address, Number(start)), isError: false };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof NetError) return failedWith(`The page was not read. ${explain(error, isFixed)}.`);
    if (error instanceof DocumentError) return failedWith(`The page was not read. ${error.message}`);
    if (error instanceof Fault && isUnavailable(error)) return failedWith(`${error.message} The page was not read.`);
    throw error;
  }
}

function explain({ reason, message, discreet }: NetError, isFixed: boolean): string {
  if (reason === "too_large") return `It is larger than ${maxBytes / 1_048_576} MB`;
  return isFixed ? discreet : message;
}

async function bytesOf(body: Download["body"]): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function shownPage({ pages, title, isCut }: ReadDocument, address: string | undefined, start: number): string {
  const whole = pages.map(({ page, text }) => (page === undefined ? text : `[page ${page}]\n${text}`)).join("\n\n");
  const lines = title === undefined ? [] : [`Title: ${title.slice(0, longestTitle)}`];
  if (address !== undefined) lines.push(`Address: ${address}`);
  const heading = foreignContent("Content of a web page", lines.join("\n"));
  if (whole.trim() === "") return `${heading}\n\n(the page has no text)`;
  if (start >= whole.length) return `${heading}\n\n(the text ends at character ${whole.length})`;
  const shown = cutText(whole.slice(start));
  const end = start + shown.length;
  const notes: string[] = [];
  if (start > 0 || end < whole.length) notes.push(`Characters ${start} to ${end} of ${whole.length}.`);
  if (end < whole.length) notes.push(`Call again with start: ${end} for more.`);
  else if (isCut) notes.push("The page is longer than can be read.");
  const text = foreignContent("Content of a web page", [...lines, "", shown].join("\n").trimStart());
  return notes.length === 0 ? text : `${text}\n\n[${notes.join(" ")}]`;
}

/** At most 40,000 characters, and fewer where they take more bytes than a result may have. */
function cutText(text: string): string {
  let shown = text.slice(0, maxChars);
  while (Buffer.byteLength(shown) > maxShownBytes - spareBytes) shown = shown.slice(0, Math.floor(shown.length * 0.9));
  // Not in the middle of a pair of surrogates.
  return /[\ud800-\udbff]$/.test(shown) && shown.length < text.length ? shown.slice(0, -1) : shown;
}
