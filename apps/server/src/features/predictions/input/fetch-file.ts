import type { Readable } from "node:stream";
import type { Media } from "../../../engines/media/media.ts";
import { type Net, NetError } from "../../../engines/net/net.ts";
import type { Loc } from "../../../kernel/errors.ts";
import type { Problem } from "./form.ts";
import { type FilePlan, tooLarge } from "./media.rules.ts";
import { type CheckedFile, inspectFile } from "./receive-file.ts";
import { LongerThanAllowed, type Spool } from "./spool.ts";

/** A file that the caller may read, by its `s3://` address; undefined for any other. `loc` is where it was named. */
export type OpenStored = (
  s3Path: string,
  loc: Loc,
) => Promise<{ stream: Readable; size: number; filename?: string | undefined } | undefined>;

export interface Fetching {
  spool: Spool;
  net: Net;
  media: Media;
  userId: string;
  openStored: OpenStored;
  signal: AbortSignal;
}

interface Opened {
  body: Readable | Uint8Array;
  filename: string | undefined;
}

/** True for an address whose bytes must be asked of somebody else. */
export function isRemote(address: string): boolean {
  return /^(https?|s3):/i.test(address);
}

/** A file field given as text: http(s), `data:` or `s3://`. */
export async function fetchFile(
  fetching: Fetching,
  field: { name: string; file: FilePlan },
  { address, sentAs }: { address: string; sentAs: string },
): Promise<CheckedFile | Problem> {
  try {
    const opened = await openAddress(fetching, field.file, address, ["body", sentAs]);
    if ("type" in opened) return opened;
    const spooled = await fetching.spool.take(opened.body, field.file.maxBytes);
    return await inspectFile(fetching, field, spooled, opened.filename);
  } catch (error) {
    fetching.signal.throwIfAborted();
    if (error instanceof LongerThanAllowed) return tooLarge(field.file);
    if (error instanceof NetError) {
      return error.reason === "too_large" ? tooLarge(field.file) : notHad(error.message);
    }
    throw error;
  }
}

async function openAddress(
  { net, openStored, signal }: Fetching,
  plan: FilePlan,
  address: string,
  loc: Loc,
): Promise<Opened | Problem> {
  if (/^https?:/i.test(address)) return net.download(address, { maxBytes: plan.maxBytes, signal });
  if (/^data:/i.test(address)) {
    const body = bytesOfDataUri(address);
    return body ? { body, filename: undefined } : notHad("The data: URI cannot be decoded");
  }
  if (/^s3:/i.test(address)) {
    const stored = await openStored(address, loc);
    if (!stored) return notHad("There is no such file, or it is not the caller's");
    if (stored.size <= plan.maxBytes) return { body: stored.stream, filename: stored.filename };
    stored.stream.destroy();
    return tooLarge(plan);
  }
  return notHad("Input should be a file, an http or https address, a data: URI, or an s3:// address of a stored file");
}

function notHad(reason: string): Problem {
  return { type: "file_download_error", msg: `The file could not be fetched. ${reason}` };
}

const shape = /^data:([^,]*),(.*)$/is;
const base64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** The bytes of a `data:` URI, undefined where it is none. The declared type is not looked at. */
export function bytesOfDataUri(text: string): Uint8Array | undefined {
  const [, head, data] = shape.exec(text) ?? [];
  if (head === undefined || data === undefined) return undefined;
  if (!/;\s*base64\s*$/i.test(head)) return percentDecoded(data);
  const digits = (data.includes("%") ? percentDecoded(data)?.toString("latin1") : data)?.replace(/\s+/g, "");
  if (digits === undefined || !base64.test(digits) || digits.replace(/=+$/, "").length % 4 === 1) return undefined;
  return Buffer.from(digits, "base64");
}

/** Into bytes: what is escaped need not be UTF-8. */
function percentDecoded(text: string): Buffer | undefined {
  if (/%(?![0-9a-f]{2})/i.test(text)) return undefined;
  const bytes = Buffer.from(text);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const isEscape = bytes[at] === 0x25;
    bytes[length++] = isEscape ? Number.parseInt(bytes.toString("latin1", at + 1, at + 3), 16) : (bytes[at] ?? 0);
    if (isEscape) at += 2;
  }
  return bytes.subarray(0, length);
}
