import { isUtf8 } from "node:buffer";
import type { Readable } from "node:stream";
import { unknownType } from "../../kernel/media-type.rules.ts";
import { examineContent } from "../files/index.ts";
import { nameOf } from "./path.rules.ts";

const headBytes = 4100;

/** Reads the first bytes. Use the returned `body` instead of the original. */
export async function takeHead(
  given: Readable | Uint8Array,
): Promise<{ head: Uint8Array; body: Readable | Uint8Array }> {
  if (given instanceof Uint8Array) return { head: given.subarray(0, headBytes), body: given };
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of given.iterator({ destroyOnReturn: false })) {
    const bytes: Uint8Array = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    chunks.push(bytes);
    size += bytes.length;
    if (size >= headBytes) break;
  }
  const read = Buffer.concat(chunks);
  const head = Uint8Array.prototype.slice.call(read, 0, headBytes);
  // Nothing can be put back into a stream that has ended.
  if (given.readableEnded) return { head, body: read };
  given.unshift(read);
  return { head, body: given };
}

/** By the bytes, then the name, then the declared type. UTF-8 text gets a charset, because clients guess another one. */
export async function contentTypeOf(
  head: Uint8Array,
  { path, declared }: { path: string; declared: string | undefined },
): Promise<string> {
  const byName = await examineContent(head, { declared: [], filename: nameOf(path) });
  const { contentType } =
    byName.contentType === unknownType
      ? await examineContent(head, { declared: [declared], filename: undefined })
      : byName;
  const isBareText = /^text\/[^;]+$/.test(contentType);
  return isBareText && beginsAsUtf8(head) ? `${contentType}; charset=utf-8` : contentType;
}

/** The head may end inside a character of up to four bytes. */
function beginsAsUtf8(head: Uint8Array): boolean {
  const cuts = head.length < headBytes ? [0] : [0, 1, 2, 3];
  return cuts.some((cut) => isUtf8(head.subarray(0, head.length - cut)));
}
