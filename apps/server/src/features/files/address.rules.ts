import { isBucketName } from "../../kernel/bucket-name.ts";
import { endingOf } from "./content-type.rules.ts";

export const maxFilenameLength = 255;

/**
 * What of a client's file name goes into an address: the last segment, letters, digits, dots, dashes and underscores.
 * Everything else becomes an underscore, so that the address survives a shell, a query string and a file system.
 */
export function safeFilename(name: string): string {
  const last = name.toWellFormed().normalize("NFC").split(/[/\\]/).at(-1) ?? "";
  const safe = last.replace(/[^\p{L}\p{M}\p{N}._-]+/gu, "_").replace(/^[._]+/, "");
  return safe === "" ? "file" : safe;
}

/** The id makes it unique, the name makes a download land under it. */
export function uploadKey(fileId: string, filename: string | undefined): string {
  return `uploads/${fileId}/${safeFilename(filename ?? "")}`;
}

export function outputKey(predictionId: string, fileId: string, field: string, contentType: string): string {
  return `outputs/${predictionId}/${fileId}/${safeFilename(field).slice(0, 64)}.${endingOf(contentType)}`;
}

export function filenameOf(key: string): string {
  return key.slice(key.lastIndexOf("/") + 1);
}

export interface S3Address {
  bucket: string;
  key: string;
}

/** `s3://bucket/key`. The key stands as it is: nothing in it is percent-encoded. */
export function formatS3Path({ bucket, key }: S3Address): string {
  return `s3://${bucket}/${key}`;
}

/** Undefined for what is no such address. A NUL is none: the database could not even look for it. */
export function parseS3Path(text: string): S3Address | undefined {
  const [, bucket, key] = /^s3:\/\/([^/]+)\/([^\0]+)$/iu.exec(text) ?? [];
  if (bucket === undefined || key === undefined || !isBucketName(bucket)) return undefined;
  if (!key.isWellFormed() || Buffer.byteLength(key) > 1024) return undefined;
  return { bucket, key };
}
