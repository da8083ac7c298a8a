import { isBucketName } from "../../kernel/bucket-name.ts";

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
