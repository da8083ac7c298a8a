import { CreateBucketCommand, HeadBucketCommand, ListObjectsV2Command } from "@aws-sdk/client-s3";
import type { S3Call } from "./s3-calls.ts";
import { isMissing, reasonOf } from "./s3-errors.ts";

/** Checks at start that the bucket can be used, and creates it if that is permitted. */
export async function ensureBucket(call: S3Call, address: { endpoint: string; bucket: string }): Promise<void> {
  const { endpoint, bucket } = address;
  const Bucket = bucket;
  try {
    await call(new HeadBucketCommand({ Bucket }));
    return;
  } catch (error) {
    if (!isMissing(error)) {
      // A HEAD response has no body; listing returns the reason.
      const reason = await call(new ListObjectsV2Command({ Bucket, MaxKeys: 1 })).then(() => reasonOf(error), reasonOf);
      throw new Error(
        `The bucket ${bucket} at ${endpoint} cannot be used: ${reason}. ` +
          "Check the endpoint, the region, the keys and their permission to list the bucket.",
        { cause: error },
      );
    }
  }
  try {
    await call(new CreateBucketCommand({ Bucket }));
  } catch (error) {
    // Another node may have created it at the same moment.
    const there = await call(new HeadBucketCommand({ Bucket })).then(
      () => true,
      () => false,
    );
    if (there) return;
    const reason = reasonOf(error);
    throw new Error(`The bucket ${bucket} at ${endpoint} does not exist and could not be created: ${reason}`, {
      cause: error,
    });
  }
}
