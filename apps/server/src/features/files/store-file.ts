import { Readable } from "node:stream";
import { isLongerThan, newId } from "@gantry/wire";
import type { BlobInfo } from "../../engines/blobs/blobs.ts";
import type { FileOutput } from "../../engines/models/driver.ts";
import { orDiskFull } from "../../kernel/disk-full.ts";
import { Fault, fault, isUnavailable, type Loc } from "../../kernel/errors.ts";
import { notMediaType, parseMediaType, unknownType } from "../../kernel/media-type.rules.ts";
import { formatS3Path, maxFilenameLength, outputKey, parseS3Path, uploadKey } from "./address.rules.ts";
import { examineContent } from "./content-type.ts";
import { discardBytes } from "./delete-files.ts";
import { type FilesDeps, linkSeconds, type PresignedUrl } from "./files-deps.ts";
import { quotaExceeded, readStorage } from "./storage-quota.ts";
import {
  type Arrival,
  abandonFile,
  deleteAwaiting,
  type FileRow,
  insertAwaiting,
  markAwaitingAgain,
  markStored,
  mayArriveUntil,
  type NewFile,
} from "./store.ts";

export interface Upload {
  ownerId: string;
  keyId?: string;
  /** Not destroyed if the upload is refused: the caller drains or destroys it. */
  body: Readable;
  /** Chunks may be freed after they are stored. */
  ownsChunks?: boolean;
  filename?: string | undefined;
  declaredType?: string | undefined;
  /** Base URL of the download link. */
  base: string;
  signal?: AbortSignal | undefined;
  /** Default: that of all uploads. */
  maxBytes?: number;
}

export async function storeUpload(deps: FilesDeps, upload: Upload): Promise<PresignedUrl> {
  const { ownerId, keyId, filename, base, signal, ownsChunks = false } = upload;
  const { blobs } = deps;
  const loc = ["body", "file"];
  if (filename !== undefined && isLongerThan(filename, maxFilenameLength)) {
    const msg = `The file name has more than ${maxFilenameLength} characters`;
    throw fault("string_too_long", msg, { loc, ctx: { max_length: maxFilenameLength } });
  }
  if (upload.declaredType !== undefined && parseMediaType(upload.declaredType) === undefined) {
    throw fault("value_error", notMediaType, { loc, input: upload.declaredType });
  }
  const id = newId("file");
  const key = uploadKey(id, filename);
  try {
    // Refuses names that are too long for a link before anything is stored.
    await blobs.signGet(key, { base, expiresInSeconds: linkSeconds, contentType: unknownType });
    const { body, contentType } = await examineContent(upload.body, { declared: [upload.declaredType], filename });
    const file = {
      key,
      id,
      ownerId,
      keyId,
      origin: "uploaded",
      maxBytes: Math.min(upload.maxBytes ?? deps.maxUploadBytes, deps.maxUploadBytes),
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

/** Stores a file that a model returned, owned by the prediction's caller. Always consumes the body. */
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
    if (error instanceof Fault && error.type === "file_too_large") {
      throw fault("downstream_service_error", "The model returned a file that is too large", { cause: error });
    }
    throw error;
  }
}

/**
 * Inserts a row, stores the bytes, updates the row. A process that dies leaves a row for the sweep, never bytes without a
 * row. The upload begins while the row is inserted; the object becomes visible after it.
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
    const hasRow = await after.then(
      () => true,
      () => false,
    );
    // The collector looks for bytes that are, or may be, in the store.
    const hasArrived = info !== undefined;
    const mayBeThere = hasArrived || isUnavailable(error);
    const until = mayArriveUntil({ origin: file.origin, state: hasArrived ? "stored" : "awaiting", createdAt });
    // If this fails too, the sweep deletes the row later. The first error is the one to report.
    if (hasRow) await (mayBeThere ? abandonFile(sql, file, until) : deleteAwaiting(sql, file.key)).catch(() => {});
    throw error;
  }
  if (!isKept) {
    await blobs.delete(file.key);
    throw fault("service_unavailable", "The upload took too long. Try again.");
  }
  return info;
}

/** Deletes an upload whose request was refused after the file had arrived. */
export async function withdrawUpload(
  deps: FilesDeps,
  { ownerId, s3Path }: { ownerId: string; s3Path: string },
): Promise<void> {
  const { key } = parseS3Path(s3Path) ?? {};
  if (key === undefined) return;
  const now = deps.clock.now();
  await abandonFile(deps.database.sql, { ownerId, key }, now);
  await discardBytes(deps, key, now);
}

/** Adds the field of the file to a validation error of the store. */
export function relocate(error: unknown, loc: Loc): unknown {
  if (!(error instanceof Fault) || error.status !== 422) return error;
  const [first, ...rest] = error.issues;
  return new Fault([{ ...first, loc }, ...rest], { cause: error.cause, retryable: error.retryable });
}

/**
 * Marks a file as stored. False if its row was deleted meanwhile. Above the owner's quota the bytes are deleted and the
 * file is refused; its row waits for another upload by the same link, or for the sweep.
 */
export async function keepArrival(
  { database, blobs, storageBytesPerUser = 0 }: FilesDeps,
  { key, origin, purpose }: Pick<FileRow, "key" | "origin"> & Pick<NewFile, "purpose">,
  arrival: Arrival,
): Promise<boolean> {
  // Results of a batch count, but are paid for and therefore never refused.
  if (origin === "output" || purpose === "batch_output")
    return (await markStored(database.sql, key, arrival)) !== undefined;
  // Without a quota, one statement is enough.
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
