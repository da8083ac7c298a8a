import type { Readable } from "node:stream";
import type { Media } from "../../../engines/media/media.ts";
import { type Net, NetError } from "../../../engines/net/net.ts";
import type { Loc } from "../../../kernel/errors.ts";
import { publicUrl } from "../kept/kept-input.rules.ts";
import type { Problem } from "./form.ts";
import { type FilePlan, tooLarge } from "./media.rules.ts";
import { type CheckedFile, hashing, inspectFile, isCheckedFile } from "./receive-file.ts";
import { LongerThanAllowed, type Spool } from "./spool.ts";

/** Opens a file of the caller by its `s3://` address. `loc` is the field that names it. */
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
  /** Whether files are described with the input that is kept. */
  hashes: boolean;
}

interface Opened {
  body: Readable | Uint8Array;
  filename: string | undefined;
}

export function isRemote(address: string): boolean {
  return /^(https?|s3):/i.test(address);
}

export async function fetchFile(
  fetching: Fetching,
  field: { name: string; file: FilePlan },
  { address, sentAs }: { address: string; sentAs: string },
): Promise<CheckedFile | Problem> {
  try {
    const opened = await openAddress(fetching, field.file, address, ["body", sentAs]);
    if ("type" in opened) return opened;
    const stored = /^s3:/i.test(address) ? address : undefined;
    const hashes = fetching.hashes && stored === undefined;
    const spooled = await fetching.spool.take(opened.body, field.file.maxBytes, hashing(hashes));
    const file = await inspectFile(fetching, field, spooled, opened.filename);
    return isCheckedFile(file) ? { ...file, stored, url: publicUrl(address) } : file;
  } catch (error) {
    fetching.signal.throwIfAborted();
    if (error instanceof LongerThanAllowed) return tooLarge(field.file);
    if (error instanceof NetError) {
      return error.reason === "too_large" ? tooLarge(field.file) : notFetched(error.message);
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
    return body ? { body, filename: undefined } : notFetched("The data: URI cannot be decoded.");
  }
  if (/^s3:/i.test(address)) {
    const stored = await openStored(address, loc);
    if (!stored) return notFetched("The file does not exist, or belongs to another user.");
    if (stored.size <= plan.maxBytes) return { body: stored.stream, filename: stored.filename };
    stored.stream.destroy();
    return tooLarge(plan);
  }
  return notFetched("Send a file, an http or https address, a data: URI, or the s3:// address of a stored file.");
}

function notFetched(reason: string): Problem {
  return { type: "file_download_error", msg: `The file could not be fetched. ${reason}` };
}

const shape = /^data:([^,]*),(.*)$/is;
const base64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** The bytes of a `data:` URI; undefined if it is invalid. The declared type is ignored. */
export function bytesOfDataUri(text: string): Uint8Array | undefined {
  const [, head, data] = shape.exec(text) ?? [];
  if (head === undefined || data === undefined) return undefined;
  if (!/;\s*base64\s*$/i.test(head)) return percentDecoded(data);
  const digits = (data.includes("%") ? percentDecoded(data)?.toString("latin1") : data)?.replace(/\s+/g, "");
  if (digits === undefined || !base64.test(digits) || digits.replace(/=+$/, "").length % 4 === 1) return undefined;
  return Buffer.from(digits, "base64");
}

/** Decodes to bytes, because escaped bytes need not be UTF-8. */
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
