import { isUtf8 } from "node:buffer";
import type { Readable } from "node:stream";

/** Leaves space for a note and headers below the 64 kB of a result. */
export const maxShownBytes = 64_000;
const longestUtf8 = 4;

export interface TakenBytes {
  bytes: Buffer;
  isWhole: boolean;
}

/** Reads the beginning of a body and destroys the body. */
export async function takeBytes(body: Readable, most = maxShownBytes): Promise<TakenBytes> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > most) break;
  }
  return { bytes: Buffer.concat(chunks).subarray(0, most), isWhole: size <= most };
}

/** Bytes as text for a model; undefined for binary data. UTF-8 is detected, other encodings must be declared. */
export function shownText(
  { bytes, isWhole }: TakenBytes,
  {
    charset,
    total,
    hide = (shown) => shown,
  }: {
    charset?: string | undefined;
    total?: number | undefined;
    hide?: (text: string, isWhole: boolean) => string;
  } = {},
): string | undefined {
  const content = decoded(bytes, isWhole, charset);
  const text = content === undefined ? undefined : hide(content, isWhole);
  if (text === undefined || isWhole) return text;
  const whole = total === undefined ? "there is more" : `the whole has ${total} bytes`;
  return `${text}\n\n[cut: ${whole}, these are the first ${bytes.length}]`;
}

function decoded(bytes: Buffer, isWhole: boolean, charset: string | undefined): string | undefined {
  if (bytes.includes(0) && !/^utf-?16/i.test(charset ?? "")) return undefined;
  const ends = isWhole ? [0] : Array.from({ length: longestUtf8 }, (_, cut) => cut);
  const whole = ends.find((cut) => isUtf8(bytes.subarray(0, bytes.length - cut)));
  if (whole !== undefined) return bytes.toString("utf8", 0, bytes.length - whole).replace(/^\uFEFF/, "");
  try {
    return charset === undefined ? undefined : new TextDecoder(charset).decode(bytes).replaceAll("\0", "\uFFFD");
  } catch {
    return undefined;
  }
}
