import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { type FileInput, isFileInput } from "../driver.ts";
import { dataUriLength, encodeDataUri, readExactly } from "./data-uri.ts";

/** A request's body whose length is known and which can be sent again: it is opened anew for every attempt. */
export interface RequestBody {
  contentType: string;
  length: number;
  /** The body itself where it holds no file: then there is nothing to stream. */
  text?: string;
  /** Pieces in order. Rejects only when one of our own files cannot be read. */
  pieces(): AsyncIterable<string | Uint8Array>;
}

/**
 * The body as a stream for one attempt. A failure to read our own file is told to `onSourceError` first: the connection
 * that breaks off because of it would otherwise look like the upstream's fault.
 */
export function openBody(body: RequestBody, onSourceError: (error: unknown) => void): Readable {
  async function* guarded() {
    try {
      yield* body.pieces();
    } catch (error) {
      onSourceError(error);
      throw error;
    }
  }
  const stream = Readable.from(guarded(), { objectMode: false });
  // Whoever sends it is told by the connection's own failure; an unheard error would end the process.
  stream.on("error", () => {});
  return stream;
}

const secret = randomUUID();
let bodies = 0;

async function* onlyPiece(text: string): AsyncGenerator<string> {
  yield text;
}

/** Looking first is cheaper than a `JSON.stringify` that asks for every part. */
function holdsFile(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return isFileInput(value) || Object.values(value).some(holdsFile);
}

/**
 * JSON in which every file input, wherever it stands, is a base64 data URI. The text around the files is made once; the
 * files are encoded while they are sent.
 */
export function jsonBody(value: unknown): RequestBody {
  if (!holdsFile(value)) {
    const text = JSON.stringify(value);
    return { contentType: "application/json", length: Buffer.byteLength(text), text, pieces: () => onlyPiece(text) };
  }
  const files: FileInput[] = [];
  // Nobody who wrote a part of the value can have guessed it.
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
    async *pieces() {
      for (const [index, part] of around.entries()) {
        yield part;
        const file = files[index];
        if (file) yield* encodeDataUri(file);
      }
    },
  };
}

export type Part = { name: string; value: string } | { name: string; file: FileInput; filename: string };

/** Names inside a part's header, escaped as browsers do it: a quote or a line break would end the header early. */
function quoted(text: string): string {
  return `"${text.replace(/\r\n|\r|\n/g, "%0D%0A").replaceAll('"', "%22")}"`;
}

function headerOf(part: Part): string {
  const name = `content-disposition: form-data; name=${quoted(part.name)}`;
  if (!("file" in part)) return `${name}\r\n\r\n`;
  const type = /^[\x20-\x7e]+$/.test(part.file.contentType) ? part.file.contentType : "application/octet-stream";
  return `${name}; filename=${quoted(part.filename)}\r\ncontent-type: ${type}\r\n\r\n`;
}

/** Multipart form data whose files are read while they are sent. */
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
    async *pieces() {
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

const endings: Readonly<Record<string, string>> = {
  "image/jpeg": "jpg",
  "image/svg+xml": "svg",
  "video/quicktime": "mov",
};

/** Servers that look at the name want a fitting ending; the user's own name says nothing they need to know. */
export function plainFilename(field: string, file: FileInput): string {
  const type = file.contentType.split(";")[0]?.trim() ?? "";
  const ending = endings[type] ?? /\/([a-z0-9]+)$/.exec(type)?.[1] ?? "bin";
  return `${field}.${ending}`;
}
