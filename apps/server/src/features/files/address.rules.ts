import { isBucketName } from "../../kernel/bucket-name.ts";
import { extensionOf } from "./content-type.rules.ts";

export const maxFilenameLength = 255;

/**
 * The last segment of a client's file name with only letters, digits, dots, dashes and underscores, so that the address is
 * safe in a shell, a query string and a file system.
 */
export function safeFilename(name: string): string {
  const last = name.toWellFormed().normalize("NFC").split(/[/\\]/).at(-1) ?? "";
  const safe = last.replace(/[^\p{L}\p{M}\p{N}._-]+/gu, "_").replace(/^[._]+/, "");
  return safe === "" ? "file" : safe;
}

/** The id is unique; the name is for downloads. */
export function uploadKey(fileId: string, filename: string | undefined): string {
  return `uploads/${fileId}/${safeFilename(filename ?? "")}`;
}

export function outputKey(predictionId: string, fileId: string, field: string, contentType: string): string {
  return `outputs/${predictionId}/${fileId}/${safeFilename(field).slice(0, 64)}.${extensionOf(contentType)}`;
}

const output = /^s3:\/\/[^/]+\/outputs\/([^/]+)\/[\w-]{1,64}\/[\p{L}\p{M}\p{N}-][\p{L}\p{M}\p{N}._-]{0,99}$/u;

/** Whether an address has the form of `outputKey`. A model can write any other text. */
export function isOutputOf(predictionId: string, s3Path: string): boolean {
  return output.exec(s3Path)?.[1] === predictionId;
}

export function filenameOf(key: string): string {
  return key.slice(key.lastIndexOf("/") + 1);
}

export interface S3Address {
  bucket: string;
  key: string;
}

/** `s3://bucket/key`, without percent-encoding. */
export function formatS3Path({ bucket, key }: S3Address): string {
  return `s3://${bucket}/${key}`;
}

/** Undefined for an invalid address, also one with a NUL, which the database refuses. */
export function parseS3Path(text: string): S3Address | undefined {
  const [, bucket, key] = /^s3:\/\/([^/]+)\/([^\0]+)$/iu.exec(text) ?? [];
  if (bucket === undefined || key === undefined || !isBucketName(bucket)) return undefined;
  if (!key.isWellFormed() || Buffer.byteLength(key) > 1024) return undefined;
  return { bucket, key };
}

/** For how long after its creation a link is valid. */
export function linkSecondsOf(url: string): number {
  return Number(new URL(url).searchParams.get("X-Amz-Expires"));
}
