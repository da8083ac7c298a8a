import type { Readable } from "node:stream";
import { fileTypeFromBuffer } from "file-type";
import { fittingContentType } from "./content-type.rules.ts";

/** Recommended by the file-type package. */
const sampleBytes = 4100;

export interface Examined {
  contentType: string;
  /** Use it instead of the original: its beginning was read and put back. */
  body: Readable | Uint8Array;
}

/** Detects the type by the first bytes, then the declared type, then the file extension. */
export async function examineContent(
  body: Readable | Uint8Array,
  claims: { declared: readonly (string | undefined)[]; filename: string | undefined },
): Promise<Examined> {
  const { head, whole } = await readHead(body);
  const detected = await fileTypeFromBuffer(head.subarray(0, sampleBytes));
  return { contentType: fittingContentType(detected?.mime, claims), body: whole };
}

async function readHead(body: Readable | Uint8Array): Promise<{ head: Uint8Array; whole: Readable | Uint8Array }> {
  if (body instanceof Uint8Array) return { head: body, whole: body };
  // The body may fail before it is stored, without a reader. Later readers still receive the error.
  body.on("error", () => {});
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body.iterator({ destroyOnReturn: false })) {
    chunks.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
    size += chunk.length;
    if (size >= sampleBytes) break;
  }
  const [only] = chunks;
  const head = chunks.length === 1 && only ? only : Buffer.concat(chunks);
  // Nothing can be put back into a stream that has ended. Then the head is the whole body.
  if (body.readableEnded) return { head, whole: head };
  body.unshift(head);
  return { head, whole: body };
}
