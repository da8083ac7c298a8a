import { addAbortSignal, type Readable } from "node:stream";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { fault } from "../../kernel/errors.ts";
import { freeBuffer } from "../../kernel/free-buffer.ts";
import type { PutOptions } from "./blobs.ts";
import { tooLarge } from "./disk-writes.ts";
import type { S3Call } from "./s3-calls.ts";

/** All parts except the last have this size, as some servers require; the minimum of S3 is 5 MB. */
const partBytes = 8 * 1024 * 1024;
const mostParts = 10_000;
const firstBytes = 64 * 1024;

export interface UploadTarget {
  Bucket: string;
  Key: string;
  ContentType: string;
}

type UploadOptions = Omit<PutOptions, "contentType">;

/**
 * Uploads a body of any length. One part is sent while the next is collected, so memory is bounded by two. (The SDK's
 * `Upload` destroys the body on failure and returns before its abort has arrived.)
 *
 *     one part:   collected ──► put ─────────────────────────────────► stored
 *     more:       collected ──► begun ──► part ──► part ──► … ──► completed: stored
 *                                └─ failure, abort, too long ──► aborted: nothing stored
 *
 * An abort stops everything except the step that makes the object visible: its outcome would be unknown.
 */
export async function uploadBody(
  call: S3Call,
  target: UploadTarget,
  body: Readable | Uint8Array,
  options: UploadOptions,
): Promise<{ size: number; etag: string }> {
  const { maxBytes = Number.POSITIVE_INFINITY, signal, after } = options;
  // Awaited once the bytes are sent; until then a rejection must not count as unhandled.
  after?.catch(() => {});
  signal?.throwIfAborted();
  if (body instanceof Uint8Array && body.length > maxBytes) throw tooLarge(maxBytes);
  const parts = body instanceof Uint8Array ? cut(body) : collect(body, options);
  const first = await parts.next();
  const start = first.value ?? new Uint8Array();
  const second = start.length < partBytes ? undefined : await parts.next();
  if (!second?.value) {
    await after;
    signal?.throwIfAborted();
    const { ETag } = await call(new PutObjectCommand({ ...target, Body: start }), { bytes: start.length });
    return { size: start.length, etag: etagOf(ETag) };
  }
  return uploadParts(call, target, [start, second.value], parts, options);
}

async function uploadParts(
  call: S3Call,
  target: UploadTarget,
  begun: readonly Uint8Array[],
  more: AsyncGenerator<Uint8Array, undefined>,
  { signal, after }: UploadOptions,
): Promise<{ size: number; etag: string }> {
  const { Bucket, Key } = target;
  const { UploadId } = await call(new CreateMultipartUploadCommand(target), { signal });
  const upload = { Bucket, Key, UploadId };
  const Parts: { PartNumber: number; ETag: string | undefined }[] = [];
  let size = 0;
  let sending: Promise<void> = Promise.resolve();

  const send = async (Body: Uint8Array, PartNumber: number): Promise<void> => {
    const part = new UploadPartCommand({ ...upload, PartNumber, Body });
    const { ETag } = await call(part, { bytes: Body.length, signal });
    Parts.push({ PartNumber, ETag });
  };
  const enqueue = async (part: Uint8Array): Promise<void> => {
    await sending;
    size += part.length;
    const number = Parts.length + 1;
    if (number > mostParts) throw fault("file_too_large", "The file has more parts than the store accepts");
    sending = send(part, number);
    // Awaited at the next part; until then a rejection must not count as unhandled.
    sending.catch(() => {});
  };

  try {
    for (const part of begun) await enqueue(part);
    for await (const part of more) await enqueue(part);
    await sending;
    await after;
    signal?.throwIfAborted();
  } catch (error) {
    // A part that arrives after the abort would remain.
    await sending.catch(() => {});
    await call(new AbortMultipartUploadCommand(upload)).catch(() => {}); // Otherwise s3-abandoned.ts finds it.
    throw error;
  }
  try {
    const { ETag } = await call(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }));
    return { size, etag: etagOf(ETag) };
  } catch (error) {
    await call(new AbortMultipartUploadCommand(upload)).catch(() => {});
    throw error;
  }
}

async function* cut(bytes: Uint8Array): AsyncGenerator<Uint8Array, undefined> {
  for (let at = 0; at < bytes.length; at += partBytes) yield bytes.subarray(at, at + partBytes);
  return undefined;
}

/** Splits the body into parts. Stops reading, without destroying the body, once it is too long. */
async function* collect(
  body: Readable,
  { maxBytes = Number.POSITIVE_INFINITY, signal, ownsChunks = false }: UploadOptions,
): AsyncGenerator<Uint8Array, undefined> {
  if (signal) addAbortSignal(signal, body);
  let size = 0;
  let part = Buffer.allocUnsafe(firstBytes);
  let filled = 0;
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false })) {
      const bytes: Uint8Array = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
      let rest = bytes;
      size += rest.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      while (rest.length > 0) {
        const now = rest.subarray(0, partBytes - filled);
        part = grown(part, filled, now.length);
        part.set(now, filled);
        filled += now.length;
        rest = rest.subarray(now.length);
        if (filled < partBytes) continue;
        yield part;
        part = Buffer.allocUnsafe(firstBytes);
        filled = 0;
      }
      if (ownsChunks) freeBuffer(bytes);
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
  signal?.throwIfAborted();
  if (filled > 0) yield part.subarray(0, filled);
  return undefined;
}

/** Grows by doubling: most files are small, and a whole part each would use too much memory. */
function grown(part: Buffer<ArrayBuffer>, filled: number, more: number): Buffer<ArrayBuffer> {
  if (filled + more <= part.length) return part;
  const larger = Buffer.allocUnsafe(Math.min(partBytes, Math.max(part.length * 2, filled + more)));
  larger.set(part.subarray(0, filled));
  return larger;
}

/** Removes the quotes. */
export function etagOf(etag: string | undefined): string {
  return (etag ?? "").replaceAll('"', "");
}
