import { randomUUID } from "node:crypto";
import { type FileInput, isFileInput } from "../driver.ts";
import { dataUriLength, encodeDataUri } from "./data-uri.ts";
import type { RequestBody } from "./request-body.ts";

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
