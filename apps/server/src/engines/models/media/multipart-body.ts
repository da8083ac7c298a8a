import { randomUUID } from "node:crypto";
import type { FileInput } from "../driver.ts";
import { readExactly } from "./data-uri.ts";
import type { RequestBody } from "./request-body.ts";

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
