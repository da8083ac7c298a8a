import { isRecord } from "../../kernel/is-record.ts";
import { isWithinDepth } from "../../kernel/storable-issues.ts";
import type { BatchEndpoint, LineError } from "./batch.ts";
import { type FileLine, mostLineBytes } from "./read-lines.ts";

export interface LineContent {
  customId: string;
  body: Record<string, unknown>;
}

const noImages = "Batches do not create images. Queue each image with POST /api/v1/{owner}/{model}/predict/async/.";
const longestCustomId = 512;
/** A tool's schema with the levels of a protocol around it. */
const deepestLine = 60;

/** Reads a line of an input file as the endpoint of its batch needs it. */
export function readLine(
  { line, text }: Pick<FileLine, "line" | "text">,
  endpoint: BatchEndpoint,
): LineContent | LineError {
  const wrong = (code: string, message: string, param: string | null = null) => ({ code, message, param, line });
  if (text === undefined) return wrong("line_too_long", `The line is longer than ${mostLineBytes / 1_048_576} MB.`);
  const request = parsed(text);
  if (!isRecord(request)) return wrong("invalid_json_line", "This line is not parseable as a JSON object.");
  const missing = ["custom_id", "method", "url", "body"].find((name) => request[name] === undefined);
  if (missing !== undefined) {
    return wrong("missing_required_parameter", `The required parameter '${missing}' is missing.`, missing);
  }
  const { custom_id: customId, method, url, body } = request;
  if (typeof customId !== "string" || customId === "" || customId.length > longestCustomId || !isStorable(customId)) {
    return wrong("invalid_custom_id", `custom_id must be text of 1 to ${longestCustomId} characters.`, "custom_id");
  }
  if (method !== "POST") return wrong("invalid_method", "The method of every request must be POST.", "method");
  if (url !== endpoint) {
    const isImage = typeof url === "string" && url.startsWith("/v1/images/");
    return wrong("invalid_url", isImage ? noImages : `The url must be ${endpoint}, the endpoint of the batch.`, "url");
  }
  if (!isRecord(body)) return wrong("invalid_body", "The body of every request must be a JSON object.", "body");
  if (!isWithinDepth(body, deepestLine)) return wrong("invalid_body", "The body is nested too deeply.", "body");
  return { customId, body };
}

export function isLineError(read: LineContent | LineError): read is LineError {
  return "code" in read;
}

/** Texts of the database cannot contain other characters. */
function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** Trimmed, because a file may begin with a byte order mark. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text.trim());
  } catch {
    return undefined;
  }
}
