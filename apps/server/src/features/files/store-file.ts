import { Readable } from "node:stream";
import { isLongerThan, newId } from "@gantry/wire";
import type { BlobInfo } from "../../engines/blobs/blobs.ts";
import type { FileOutput } from "../../engines/models/driver.ts";
import { orDiskFull } from "../../kernel/disk-full.ts";
import { Fault, fault, type Loc } from "../../kernel/errors.ts";
import { notMediaType, parseMediaType, unknownType } from "../../kernel/media-type.rules.ts";
import { formatS3Path, maxFilenameLength, outputKey, parseS3Path, uploadKey } from "./address.rules.ts";
import { examineContent } from "./content-type.ts";
import { discardBytes } from "./delete-files.ts";
import { type FilesDeps, linkSeconds, type PresignedUrl } from "./files-deps.ts";
import { quotaExceeded, readStorage } from "./storage-quota.ts";
import {
  type Arrival,
  deleteAwaiting,
  type FileRow,
  giveUpFile,
  insertAwaiting,
  markAwaitingAgain,
  markStored,
  mayArriveUntil,
  type NewFile,
} from "./store.ts";

export interface Upload {
  ownerId: string;
  /** The key that brings it. */
  keyId?: string;
  /** Left alive when the upload is refused, for the caller to drain or destroy. */
  body: Readable;
  /** Its chunks are given away, to be freed once they are stored. */
  ownsChunks?: boolean;
  filename?: string | undefined;
  declaredType?: string | undefined;
  /** The address that the download link carries. */
  base: string;
  signal?: AbortSignal | undefined;
}

export async function storeUpload(deps: FilesDeps, upload: Upload): Promise<PresignedUrl> {
  const { ownerId, keyId, filename, base, signal, ownsChunks = false } = upload;
  const { blobs } = deps;
  const loc = ["body", "file"];
  if (filename !== undefined && isLongerThan(filename, maxFilenameLength)) {
    const msg = `The file's name is longer than ${maxFilenameLength} characters`;
    throw fault("string_too_long", msg, { loc, ctx: { max_length: maxFilenameLength } });
  }
  if (upload.declaredType !== undefined && parseMediaType(upload.declaredType) === undefined) {
    throw fault("value_error", notMediaType, { loc, input: upload.declaredType });
  }
  const id = newId("file");
  const key = uploadKey(id, filename);
  try {
    // First, because it refuses names that are too long for a link.
    await blobs.signGet(key, { base, expiresInSeconds: linkSeconds, contentType: unknownType });
    const { body, contentType } = await examineContent(upload.body, { declared: [upload.declaredType], filename });
    const file = {
      key,
      id,
      ownerId,
      keyId,
      origin: "uploaded",
      maxBytes: deps.maxUploadBytes,
      predictionId: undefined,
    } as const;
    const { size } = await storeBody(deps, file, body, { contentType, signal, ownsChunks });
    const link = await blobs.signGet(key, { base, expiresInSeconds: linkSeconds, contentType });
    const s3Path = formatS3Path({ bucket: blobs.bucket, key });
    return { ...link, file_input: { s3_path: s3Path, size, content_type: contentType } };
  } catch (error) {
    throw relocate(orDiskFull(error, deps.database.isFull()), loc);
  }
}

export interface StoredOutput {
  s3Path: string;
  size: number;
  contentType: string;
}

/** Keeps a file that a model made, as a file of the prediction's caller. The body is used up, also on failure. */
export async function storeOutput(
  deps: FilesDeps,
  output: { ownerId: string; predictionId: string; field: string; file: FileOutput; signal?: AbortSignal | undefined },
): Promise<StoredOutput> {
  const { ownerId, predictionId, field, file, signal } = output;
  try {
    const { body, contentType } = await examineContent(file.body, {
      declared: [file.contentType],
      filename: undefined,
    });
    const id = newId("file");
    const key = outputKey(predictionId, id, field, contentType);
    const row = {
      key,
      id,
      ownerId,
      keyId: undefined,
      origin: "output",
      maxBytes: deps.maxUploadBytes,
      predictionId,
    } as const;
    const { size } = await storeBody(deps, row, body, { contentType, signal });
    return { s3Path: formatS3Path({ bucket: deps.blobs.bucket, key }), size, contentType };
  } catch (error) {
    if (file.body instanceof Readable) file.body.destroy();
    // The caller sent nothing too large: the model did.
    if (error instanceof Fault && error.type === "file_too_large") {
      throw fault("downstream_service_error", "The model returned a file that is too large", { cause: error });
    }
    throw error;
  }
}

/**
 * Row, bytes, row: whatever dies in between leaves a row that the sweep finds, never bytes that nobody knows of. The
 * bytes are taken while the first row is written, and become an object after it.
 */
export async function storeBody(
  deps: FilesDeps,
  file: Omit<NewFile, "now" | "declaredType">,
  body: Readable | Uint8Array,
  options: { contentType: string; signal?: AbortSignal | undefined; ownsChunks?: boolean },
): Promise<BlobInfo> {
  const { contentType, signal, ownsChunks = false } = options;
  const {
    database: { sql },
    blobs,
    clock,
  } = deps;
  const createdAt = clock.now();
  const after = insertAwaiting(sql, { ...file, declaredType: contentType, now: createdAt });
  let info: BlobInfo | undefined;
  let isKept: boolean;
  try {
    const bounds = { maxBytes: file.maxBytes, ...(signal && { signal }) };
    info = await blobs.put(file.key, body, { contentType, after, ownsChunks, ...bounds });
    isKept = await keepArrival(deps, file, { ...info, now: clock.now() });
  } catch (error) {
    // A database that is away for the first row need not be waited for again.
    const hasRow = await after.then(
      () => true,
      () => false,
    );
    // Bytes that are there, or may be because the store did not answer, are the collector's to look for.
    const hasArrived = info !== undefined;
    const mayBeThere = hasArrived || (error instanceof Fault && error.type === "service_unavailable");
    const until = mayArriveUntil({ origin: file.origin, state: hasArrived ? "stored" : "awaiting", createdAt });
    // Should this fail too, the sweep does it later; what the caller must hear is why the bytes were not stored.
    if (hasRow) await (mayBeThere ? giveUpFile(sql, file, until) : deleteAwaiting(sql, file.key)).catch(() => {});
    throw error;
  }
  if (!isKept) {
    await blobs.delete(file.key);
    throw fault("service_unavailable", "The file took too long to arrive and was given up");
  }
  return info;
}

/** Takes back an upload whose request was refused after the file had arrived. */
export async function withdrawUpload(
  deps: FilesDeps,
  { ownerId, s3Path }: { ownerId: string; s3Path: string },
): Promise<void> {
  const { key } = parseS3Path(s3Path) ?? {};
  if (key === undefined) return;
  const now = deps.clock.now();
  await giveUpFile(deps.database.sql, { ownerId, key }, now);
  await discardBytes(deps, key, now);
}

/** The store does not know which field a file came in; who called it does. Other errors pass unchanged. */
export function relocate(error: unknown, loc: Loc): unknown {
  if (!(error instanceof Fault) || error.status !== 422) return error;
  const [first, ...rest] = error.issues;
  return new Fault([{ ...first, loc }, ...rest], { cause: error.cause, retryable: error.retryable });
}

/**
 * Makes a file of bytes that have arrived. False when its row is gone: it was given up or deleted meanwhile. Beyond the
 * owner's quota the bytes are deleted and the file is refused. Its row awaits others, as it may be a link's, and is the
 * sweep's otherwise.
 */
export async function keepArrival(
  { database, blobs, storageBytesPerUser = 0 }: FilesDeps,
  { key, origin }: Pick<FileRow, "key" | "origin">,
  arrival: Arrival,
): Promise<boolean> {
  if (origin === "output") return (await markStored(database.sql, key, arrival)) !== undefined;
  // One statement, without a transaction, for the owners who have no quota.
  let ownerId = await markStored(database.sql, key, arrival, { unlessQuota: storageBytesPerUser });
  if (ownerId !== undefined) return true;
  try {
    await database.transaction(async (tx) => {
      ownerId = await markStored(tx, key, arrival);
      if (ownerId === undefined) return;
      const { used, allowed } = await readStorage(tx, ownerId, storageBytesPerUser);
      if (allowed !== undefined && used > allowed) throw quotaExceeded({ used: used - arrival.size, allowed });
    });
  } catch (error) {
    if (ownerId !== undefined && error instanceof Fault && error.type === "storage_quota_exceeded") {
      await markAwaitingAgain(database.sql, { ownerId, key });
      await blobs.delete(key);
    }
    throw error;
  }
  return ownerId !== undefined;
}
