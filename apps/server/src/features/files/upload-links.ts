import { isLongerThan, newId } from "@gantry/wire";
import type { BlobInfo } from "../../engines/blobs/blobs.ts";
import { fault, type Issue, throwIfAny } from "../../kernel/errors.ts";
import { notMediaType, parseMediaType, unknownType } from "../../kernel/media-type.rules.ts";
import { formatS3Path, linkSecondsOf, maxFilenameLength, uploadKey } from "./address.rules.ts";
import { type FilesDeps, linkSeconds, type PresignedUrl } from "./files-deps.ts";
import { refuseBeyondQuota } from "./storage-quota.ts";
import { findLinkTarget, insertAwaiting } from "./store.ts";
import { keepArrival, relocate } from "./store-file.ts";

/** A link to upload one file directly to the store. */
export async function createUploadLink(
  deps: FilesDeps,
  request: { ownerId: string; keyId?: string; base: string; filename?: unknown; contentType?: unknown },
): Promise<PresignedUrl> {
  const { filename, contentType } = checkQuery(request);
  const { blobs } = deps;
  await refuseBeyondQuota(deps, request.ownerId, 1);
  const id = newId("file");
  const key = uploadKey(id, filename);
  const options = { base: request.base, expiresInSeconds: linkSeconds };
  try {
    const link = await blobs.signPut(key, { ...options, ...(contentType !== undefined && { contentType }) });
    // The download link must fit too, or the file could never be fetched.
    await blobs.signGet(key, { ...options, contentType: contentType ?? unknownType });
    await insertAwaiting(deps.database.sql, {
      key,
      id,
      ownerId: request.ownerId,
      keyId: request.keyId,
      origin: "link",
      declaredType: contentType,
      maxBytes: deps.maxUploadBytes,
      predictionId: undefined,
      now: deps.clock.now(),
    });
    const s3Path = formatS3Path({ bucket: blobs.bucket, key });
    return { ...link, file_input: { s3_path: s3Path, expires_in: linkSecondsOf(link.url) } };
  } catch (error) {
    throw relocate(error, ["query", "filename"]);
  }
}

function checkQuery(request: { filename?: unknown; contentType?: unknown }) {
  const issues: Issue[] = [];
  const filename = optionalText("filename", request.filename, issues);
  const given = optionalText("content_type", request.contentType, issues);
  const contentType = given === undefined ? undefined : parseMediaType(given);
  if (filename !== undefined && isLongerThan(filename, maxFilenameLength)) {
    const msg = `String should have at most ${maxFilenameLength} characters`;
    const loc = ["query", "filename"];
    issues.push({ type: "string_too_long", loc, msg, ctx: { max_length: maxFilenameLength } });
  }
  if (given !== undefined && contentType === undefined) {
    issues.push({ type: "value_error", loc: ["query", "content_type"], msg: notMediaType, input: given });
  }
  throwIfAny(issues);
  return { filename, contentType };
}

function optionalText(name: string, value: unknown, issues: Issue[]): string | undefined {
  if (value === undefined || value === "") return undefined;
  if (typeof value === "string") return value;
  issues.push({ type: "string_type", loc: ["query", name], msg: "Input should be one string" });
  return undefined;
}

/**
 * Limits of an upload by link; undefined if the link's file was deleted. A known size above the quota is refused here,
 * before the upload replaces the existing bytes.
 */
export async function findUploadTarget(
  deps: FilesDeps,
  key: string,
  bytes: number | undefined,
): Promise<{ maxBytes: number; contentType: string | undefined } | undefined> {
  const target = await findLinkTarget(deps.database.sql, key);
  if (target && bytes !== undefined) await refuseBeyondQuota(deps, target.ownerId, bytes, target.presentBytes);
  return target && { maxBytes: target.maxBytes, contentType: target.declaredType ?? undefined };
}

/** Called after an upload by link has arrived in the embedded store. */
export async function recordUpload(deps: FilesDeps, key: string, info: BlobInfo): Promise<void> {
  if (await keepArrival(deps, { key, origin: "link" }, { ...info, now: deps.clock.now() })) return;
  await deps.blobs.delete(key);
  throw fault("not_found", "File not found");
}
