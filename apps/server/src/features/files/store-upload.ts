import type { Readable } from "node:stream";
import { isLongerThan, newId } from "@gantry/wire";
import { orDiskFull } from "../../kernel/disk-full.ts";
import { fault } from "../../kernel/errors.ts";
import { notMediaType, parseMediaType, unknownType } from "../../kernel/media-type.rules.ts";
import { examineContent } from "./content-type.ts";
import { maxFilenameLength, uploadKey } from "./file-name.rules.ts";
import { type FilesDeps, linkSeconds, type PresignedUrl } from "./files-deps.ts";
import { relocate } from "./relocate-fault.ts";
import { formatS3Path } from "./s3-path.rules.ts";
import { storeBody } from "./store-body.ts";

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
