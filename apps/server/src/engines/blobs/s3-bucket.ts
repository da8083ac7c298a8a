import { CreateBucketCommand, HeadBucketCommand, ListObjectsV2Command } from "@aws-sdk/client-s3";
import type { S3Call } from "./s3-calls.ts";
import { isMissing, reasonOf } from "./s3-errors.ts";

/** Makes sure, at start, that the bucket is there and may be used; makes it where that is permitted. */
export async function ensureBucket(call: S3Call, address: { endpoint: string; bucket: string }): Promise<void> {
  const { endpoint, bucket } = address;
  const Bucket = bucket;
  try {
    await call(new HeadBucketCommand({ Bucket }));
    return;
  } catch (error) {
    if (!isMissing(error)) {
      // A HEAD answer has no body: a listing tells the reason.
      const reason = await call(new ListObjectsV2Command({ Bucket, MaxKeys: 1 })).then(() => reasonOf(error), reasonOf);
      throw new Error(
        `The bucket ${bucket} at ${endpoint} cannot be used: ${reason}. ` +
          "Check the address, the region, the keys and their permission to list it.",
        { cause: error },
      );
    }
  }
  try {
    await call(new CreateBucketCommand({ Bucket }));
  } catch (error) {
    // Another node that starts at the same moment may have made it.
    const there = await call(new HeadBucketCommand({ Bucket })).then(
      () => true,
      () => false,
    );
    if (there) return;
    const reason = reasonOf(error);
    throw new Error(`The bucket ${bucket} at ${endpoint} does not exist and could not be made: ${reason}`, {
      cause: error,
    });
  }
}
