import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { type FileInput, isFileInput } from "../driver.ts";
import { dataUriLength, encodeDataUri, readExactly } from "./data-uri.ts";

/** A body of known length that can be opened again for a retry. */
export interface RequestBody {
  contentType: string;
  length: number;
  /** The whole body if it contains no file. */
  text?: string;
  /** Rejects only when one of our own files cannot be read. */
  chunks(): AsyncIterable<string | Uint8Array>;
}

/** A failure to read our own file goes to `onSourceError` first; the broken connection looks like the upstream's fault. */
export function openBody(body: RequestBody, onSourceError: (error: unknown) => void): Readable {
  async function* guarded() {
    try {
      yield* body.chunks();
    } catch (error) {
      onSourceError(error);
      throw error;
    }
  }
  const stream = Readable.from(guarded(), { objectMode: false });
  // The sender sees the connection fail. An unhandled error event would end the process.
  stream.on("error", () => {});
  return stream;
}

const secret = randomUUID();
let bodies = 0;

async function* onlyChunk(text: string): AsyncGenerator<string> {
  yield text;
}

/** Cheaper than `JSON.stringify` with a replacer. */
function holdsFile(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return isFileInput(value) || Object.values(value).some(holdsFile);
}

/** JSON with every file input as a base64 data URI. Files are encoded while they are sent. */
export function jsonBody(value: unknown): RequestBody {
  if (!holdsFile(value)) {
    const text = JSON.stringify(value);
    return { contentType: "application/json", length: Buffer.byteLength(text), text, chunks: () => onlyChunk(text) };
  }
  const files: FileInput[] = [];
  // No caller can guess the placeholder.
  const mark = `file-${secret}-${++bodies}`;
  const text = JSON.stringify(value, (_key, part: unknown) => {
    if (!isFileInput(part)) return part;
    files.push(part);
    return mark;
  });
  const around = text.split(mark);
  const length = around.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
  return {
    contentType: "application/json",
    length: files.reduce((sum, file) => sum + dataUriLength(file), length),
    async *chunks() {
      for (const [index, part] of around.entries()) {
        yield part;
        const file = files[index];
        if (file) yield* encodeDataUri(file);
      }
    },
  };
}

export type Part = { name: string; value: string } | { name: string; file: FileInput; filename: string };

/** Escapes like browsers do: a quote or a line break would end the header early. */
function quoted(text: string): string {
  return `"${text.replace(/\r\n|\r|\n/g, "%0D%0A").replaceAll('"', "%22")}"`;
}

function headerOf(part: Part): string {
  const name = `content-disposition: form-data; name=${quoted(part.name)}`;
  if (!("file" in part)) return `${name}\r\n\r\n`;
  const type = /^[\x20-\x7e]+$/.test(part.file.contentType) ? part.file.contentType : "application/octet-stream";
  return `${name}; filename=${quoted(part.filename)}\r\ncontent-type: ${type}\r\n\r\n`;
}

/** Files are read while they are sent. */
export function multipartBody(parts: readonly Part[]): RequestBody {
  const boundary = `gantry-${randomUUID()}`;
  const opening = `--${boundary}\r\n`;
  const closing = `--${boundary}--\r\n`;
  let length = closing.length;
  for (const part of parts) {
    length += opening.length + Buffer.byteLength(headerOf(part)) + 2;
    length += "file" in part ? part.file.size : Buffer.byteLength(part.value);
  }
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    length,
    async *chunks() {
      for (const part of parts) {
        yield opening + headerOf(part);
        if ("file" in part) yield* readExactly(part.file);
        else if (part.value !== "") yield part.value;
        yield "\r\n";
      }
      yield closing;
    },
  };
}

const extensions: Readonly<Record<string, string>> = {
  "image/jpeg": "jpg",
  "image/svg+xml": "svg",
  "video/quicktime": "mov",
};

/** Some servers need a matching extension. The user's own file name is not passed on. */
export function plainFilename(field: string, file: FileInput): string {
  const type = file.contentType.split(";")[0]?.trim() ?? "";
  const extension = extensions[type] ?? /\/([a-z0-9]+)$/.exec(type)?.[1] ?? "bin";
  return `${field}.${extension}`;
}
