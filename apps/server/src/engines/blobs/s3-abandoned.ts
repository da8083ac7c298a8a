import { AbortMultipartUploadCommand, ListMultipartUploadsCommand } from "@aws-sdk/client-s3";
import type { S3Call } from "./s3-calls.ts";

const dayMillis = 86_400_000;

/**
 * Aborts multipart uploads that began more than a day ago: their process died, and S3 would keep and bill the parts
 * forever. Several nodes may do this at once. Returns the number of aborted uploads.
 */
export async function abortAbandonedUploads(call: S3Call, Bucket: string, now: Date): Promise<number> {
  let count = 0;
  let from: { KeyMarker?: string; UploadIdMarker?: string } = {};
  for (;;) {
    const page = await call(new ListMultipartUploadsCommand({ Bucket, ...from }));
    for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
      if (!Initiated || now.getTime() - Initiated.getTime() < dayMillis) continue;
      await call(new AbortMultipartUploadCommand({ Bucket, Key, UploadId })).catch(() => {}); // Another node was first.
      count++;
    }
    if (!page.IsTruncated || !page.NextKeyMarker) return count;
    from = {
      KeyMarker: page.NextKeyMarker,
      ...(page.NextUploadIdMarker && { UploadIdMarker: page.NextUploadIdMarker }),
    };
  }
}
