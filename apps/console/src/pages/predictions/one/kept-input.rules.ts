import { isRecord } from "../../../ui/json.rules.ts";

/** A file of an input: a stored file, or what is known about one that was sent with the request. */
export type KeptFile =
  | { kind: "stored"; s3Path: string }
  | { kind: "inline"; name: string | undefined; contentType: string; size: number; sha256?: string; url?: string };

export type KeptValue =
  | { kind: "text"; text: string }
  | { kind: "value"; text: string }
  | { kind: "files"; files: readonly KeptFile[] }
  | { kind: "messages"; messages: readonly KeptMessage[] }
  | { kind: "json"; value: unknown };

export interface KeptMessage {
  role: string;
  /** Undefined: `rest` has everything. */
  text: string | undefined;
  files: readonly KeptFile[];
  /** Parts that are neither text nor files, such as tool calls. */
  rest: readonly unknown[];
}

/** Undefined if the value is not a file. */
export function keptFile(value: unknown): KeptFile | undefined {
  if (!isRecord(value)) return undefined;
  if (typeof value.$stored === "string") return { kind: "stored", s3Path: value.$stored };
  if (!isRecord(value.$inline)) return undefined;
  const { name, content_type, size, sha256, url } = value.$inline;
  return {
    kind: "inline",
    name: typeof name === "string" ? name : undefined,
    contentType: typeof content_type === "string" ? content_type : "Unknown type",
    size: typeof size === "number" ? size : 0,
    ...(typeof sha256 === "string" && { sha256 }),
    ...(typeof url === "string" && { url }),
  };
}

export function keptValue(value: unknown): KeptValue {
  if (typeof value === "string") return { kind: "text", text: value };
  if (typeof value === "number" || typeof value === "boolean" || value === null) {
    return { kind: "value", text: String(value) };
  }
  const listed = Array.isArray(value) ? value : [value];
  const files = listed.map(keptFile).filter((file) => file !== undefined);
  if (files.length > 0 && files.length === listed.length) return { kind: "files", files };
  if (Array.isArray(value) && value.length > 0 && value.every(isMessage)) {
    return { kind: "messages", messages: value.map(messageOf) };
  }
  return { kind: "json", value };
}

type Message = Record<string, unknown> & { role: string };
const isMessage = (value: unknown): value is Message => isRecord(value) && typeof value.role === "string";

function messageOf({ role, content, ...others }: Message): KeptMessage {
  const parts = Array.isArray(content) ? content : content === undefined || content === null ? [] : [content];
  const texts: string[] = [];
  const files: KeptFile[] = [];
  const rest: unknown[] = [];
  for (const part of parts) {
    const file = fileIn(part);
    if (typeof part === "string") texts.push(part);
    else if (file) files.push(file);
    else if (isRecord(part) && typeof part.text === "string") texts.push(part.text);
    else rest.push(part);
  }
  if (Object.keys(others).length > 0) rest.push(others);
  return { role, text: texts.length === 0 ? undefined : texts.join("\n\n"), files, rest };
}

/** A part of a message is a file, or has it in one of its fields. */
function fileIn(part: unknown): KeptFile | undefined {
  if (!isRecord(part)) return undefined;
  return (
    keptFile(part) ??
    Object.values(part)
      .map(keptFile)
      .find((file) => file !== undefined)
  );
}
