import { isFileInput } from "../../../engines/models/driver.ts";
import { isRecord } from "../../../kernel/is-record.ts";
import { isWithinDepth } from "../../../kernel/storable-issues.ts";
import { wholePairs } from "../result/fragments.rules.ts";
import { shorten } from "./shorten.rules.ts";

/** The request that creates a prediction. */
export interface RequestOrigin {
  /** Its `X-Request-Id`. */
  id: string;
  /** False if the request itself opts out. */
  keepsInput: boolean;
}

/** Stored in `ended_predictions.request`. PostgreSQL reads it, so it has no text that PostgreSQL cannot decode. */
export interface KeptRequest {
  id?: string;
  /** The id of its trace, if that is recorded. */
  trace?: string;
  /** The input is kept. */
  keeps?: true;
  /** The beginning of the main text. */
  preview?: string;
  truncated?: true;
}

export interface Kept {
  request: KeptRequest;
  /** JSON; undefined if the input is not kept. */
  input: string | undefined;
}

/** Of the JSON text. */
export const mostKeptBytes = 256 * 1024;
const deepest = 100;
const previewLength = 200;

/** Never throws: an input that cannot be kept must not fail a prediction that has ended. */
export function keptOf(id: string | undefined, input: (() => unknown) | undefined, trace?: string): Kept {
  const request: KeptRequest = { ...(id !== undefined && { id }), ...(trace !== undefined && { trace }) };
  try {
    const whole = input?.();
    if (!isRecord(whole) || !isWithinDepth(whole, deepest)) return { request, input: undefined };
    const { json, truncated } = shorten(whole, mostKeptBytes);
    const preview = previewOf(mainText(whole));
    return {
      request: { ...request, keeps: true, ...(preview && { preview }), ...(truncated && { truncated }) },
      input: json,
    };
  } catch {
    return { request, input: undefined };
  }
}

/** The form in which the end of a prediction carries both: JSON has no line breaks of its own. */
export function keptText({ request, input }: Kept): string {
  return `${JSON.stringify(request)}\n${input ?? ""}`;
}

/** Replaces escapes that PostgreSQL stores but cannot decode: NUL and lone surrogates. */
export function decodableJson(json: string): string {
  return json.replace(/\\(?:u(?:0000|d[89a-f][0-9a-f]{2})|[\s\S])/g, (found) =>
    found.length === 6 ? "\\ufffd" : found,
  );
}

/** The fields of a model's input. Files become references or descriptions. */
export function keptFields(input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [name, keptValue(value)]));
}

function keptValue(value: unknown): unknown {
  if (isFileInput(value)) return keptFile(value);
  return Array.isArray(value) && value.some(isFileInput) ? value.map(keptValue) : value;
}

/** What is known about a file of an input. */
export interface DescribedFile {
  filename?: string | null | undefined;
  contentType: string;
  size: number;
  sha256?: string | undefined;
  /** The `s3://` address by which the caller named it. */
  stored?: string | undefined;
  /** The public address by which the caller named it. */
  url?: string | undefined;
}

export function keptFile({ filename, contentType, size, sha256, stored, url }: DescribedFile) {
  if (stored !== undefined) return { $stored: stored };
  const inline = { name: filename ?? null, content_type: contentType, size, sha256: sha256 ?? null };
  return { $inline: url === undefined ? inline : { ...inline, url } };
}

/** Links with a query or a user may contain credentials, and are not kept. */
export function publicUrl(address: string): string | undefined {
  const url = /^https?:/i.test(address) ? URL.parse(address) : null;
  return url && url.search === "" && url.username === "" && url.password === "" ? url.href : undefined;
}

/** The first 200 characters in one line; undefined if nothing is left. */
export function previewOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  // A longer beginning is enough: white space is collapsed.
  const line = text
    .slice(0, previewLength * 2)
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  const cut = wholePairs(line.slice(0, previewLength)).toWellFormed();
  return cut === "" ? undefined : cut;
}

/** The prompt, the last message of the user, or the first text. */
export function mainText(input: Readonly<Record<string, unknown>>): string | undefined {
  const { prompt, messages, input: texts } = input;
  if (typeof prompt === "string") return prompt;
  if (Array.isArray(messages)) {
    const last = messages.findLast((message) => isRecord(message) && message.role === "user");
    return textIn(isRecord(last) ? last.content : undefined);
  }
  const [first] = [texts].flat();
  if (typeof first === "string") return first;
  return Object.values(input).find((value) => typeof value === "string" && value !== "") as string | undefined;
}

function textIn(content: unknown): string | undefined {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return undefined;
  const part = content.findLast((each) => isRecord(each) && typeof each.text === "string");
  return isRecord(part) ? (part.text as string) : undefined;
}
