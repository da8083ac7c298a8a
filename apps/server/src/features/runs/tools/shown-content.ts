import { isUtf8 } from "node:buffer";
import type { Readable } from "node:stream";

/** Of a file or an answer, so that with its mark and its headers it stays below the 64 kB of a result. */
export const mostShownBytes = 64_000;
const longestUtf8 = 4;

export interface TakenBytes {
  bytes: Buffer;
  /** Whether that was all. */
  isWhole: boolean;
}

/** The beginning of a body. The rest is not read: the body is destroyed. */
export async function takeBytes(body: Readable, most = mostShownBytes): Promise<TakenBytes> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > most) break;
  }
  return { bytes: Buffer.concat(chunks).subarray(0, most), isWhole: size <= most };
}

/**
 * Bytes as a text for a model, undefined for what is none. UTF-8 says so itself; another encoding counts where it is
 * declared. `total` is the length of the whole, where it is known.
 */
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
  const said = decoded(bytes, isWhole, charset);
  const text = said === undefined ? undefined : hide(said, isWhole);
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
    // An encoding that nobody knows.
    return undefined;
  }
}
