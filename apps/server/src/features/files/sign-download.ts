import { fault } from "../../kernel/errors.ts";
import { unknownType } from "../../kernel/media-type.rules.ts";
import type { Scope } from "../accounts/index.ts";
import { typeByEnding } from "./content-type.rules.ts";
import { type FilesDeps, linkSeconds, type PresignedUrl } from "./files-deps.ts";
import { findUsableFile } from "./find-usable-file.ts";
import { formatS3Path, parseS3Path } from "./s3-path.rules.ts";

const loc = ["query", "s3_path_to_sign"];

/** A download link for what the caller uploaded or produced; for everything else there is no such file. */
export async function signDownload(
  deps: FilesDeps,
  request: Scope & { base: string; s3Path: unknown },
): Promise<PresignedUrl> {
  const { base, s3Path } = request;
  if (s3Path === undefined) throw fault("missing", "Field required", { loc });
  if (typeof s3Path !== "string") throw fault("string_type", "Input should be one string", { loc });
  if (!parseS3Path(s3Path)) {
    throw fault("url_parsing", "Input should be an address of the form s3://bucket/key", { loc, input: s3Path });
  }
  const file = await findUsableFile(deps, { ...request, s3Path, loc });
  if (!file) throw fault("not_found", "File not found");
  const { key, size, contentType } = file;
  const link = await deps.blobs.signGet(key, { base, expiresInSeconds: linkSeconds, contentType });
  const address = formatS3Path({ bucket: deps.blobs.bucket, key });
  return { ...link, file_input: { s3_path: address, size, content_type: contentType } };
}

/** A download link for an address that is already known to be the reader's, such as an output of its own prediction. */
export async function presignDownload(
  { blobs }: Pick<FilesDeps, "blobs">,
  request: { s3Path: string; base: string },
): Promise<PresignedUrl> {
  const address = parseS3Path(request.s3Path);
  if (address?.bucket !== blobs.bucket)
    throw new Error(`${request.s3Path} is no address of the bucket ${blobs.bucket}`);
  // The ending of an output's key was chosen by the type of its bytes.
  const contentType = typeByEnding(address.key) ?? unknownType;
  const link = await blobs.signGet(address.key, { base: request.base, expiresInSeconds: linkSeconds, contentType });
  return { ...link, file_input: null };
}
