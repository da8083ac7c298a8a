import type { Readable } from "node:stream";
import { fileTypeFromBuffer } from "file-type";
import { fittingContentType } from "./content-type.rules.ts";

/** What the file-type package asks for to recognise nearly everything. */
const sampleBytes = 4100;

export interface Examined {
  contentType: string;
  /** Stands for the body from here on: the beginning was read and put back. */
  body: Readable | Uint8Array;
}

/** Finds the type of a body by its first bytes, else by what was declared, else by the name's ending. */
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
  // A body can fail between being looked at and being stored, when nobody reads it. Whoever reads on hears of it.
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
  // Nothing can be put back into a stream that has told its end; then the head is all there is.
  if (body.readableEnded) return { head, whole: head };
  body.unshift(head);
  return { head, whole: body };
}
