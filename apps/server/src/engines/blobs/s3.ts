import { constants } from "node:fs";
import { open, unlink } from "node:fs/promises";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  S3Client,
} from "@aws-sdk/client-s3";
import { type Clock, systemClock } from "../../kernel/clock.ts";
import { dispositionOf, longestMediaType } from "../../kernel/media-type.rules.ts";
import type { BlobInfo, BlobStore } from "./blobs.ts";
import { checkKey } from "./object-key.ts";
import { abortAbandonedUploads } from "./s3-abandoned.ts";
import { ensureBucket } from "./s3-bucket.ts";
import { createS3Call } from "./s3-calls.ts";
import { guardDownload } from "./s3-download.ts";
import { isMissing } from "./s3-errors.ts";
import { etagOf, uploadBody } from "./s3-upload.ts";
import { checkLinkLength, signLink } from "./signature.ts";
import { encodeStrict } from "./uri-encoding.ts";

export interface S3Options {
  /** Scheme, host and port of the server; buckets are addressed by path. */
  endpoint: string;
  /** URL of the same server for clients, used in links. */
  publicEndpoint?: string | undefined;
  bucket: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  clock?: Clock;
  /** Deadline of a call, besides the time for its bytes. */
  patienceMs?: number;
  /** Called when cleaning up failed; it is retried. */
  onTrouble?: (text: string, error: unknown) => void;
}

const longestEncodedType = longestMediaType * 3;
const connectMs = 5_000;
const connections = 256;
const readBytes = 256 * 1024;
const clearUpEveryMs = 6 * 3_600_000;

/**
 * The external store: any S3 server. Links point straight to it. Rejects with the reason if the bucket cannot be used.
 */
export async function openS3Blobs(options: S3Options): Promise<BlobStore> {
  const { endpoint, publicEndpoint = endpoint, bucket, region, accessKeyId, secretAccessKey } = options;
  const { clock = systemClock, patienceMs, onTrouble = () => undefined } = options;
  const credentials = { accessKeyId, secretAccessKey };
  const client = new S3Client({
    endpoint,
    region,
    credentials,
    forcePathStyle: true,
    // Servers other than AWS refuse checksums in trailers.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: {
      connectionTimeout: connectMs,
      httpAgent: { keepAlive: true, maxSockets: connections },
      httpsAgent: { keepAlive: true, maxSockets: connections },
    },
  });
  const call = createS3Call(client, patienceMs);
  try {
    await ensureBucket(call, { endpoint, bucket });
  } catch (error) {
    client.destroy();
    throw error;
  }

  const clearUp = () =>
    abortAbandonedUploads(call, bucket, clock.now()).catch((error: unknown) =>
      onTrouble("Removing unfinished uploads failed. Retrying.", error),
    );
  let clearing = clearUp();
  const clearTimer = setInterval(() => {
    clearing = clearUp();
  }, clearUpEveryMs);
  clearTimer.unref();

  const put: BlobStore["put"] = async (key, body, { contentType, ...options }) => {
    checkKey(key);
    const target = { Bucket: bucket, Key: key, ContentType: contentType };
    const { size, etag } = await uploadBody(call, target, body, options);
    return { size, contentType, etag, modifiedAt: clock.now() };
  };

  const sign = (method: "GET" | "PUT", key: string, expiresInSeconds: number, query = {}) => {
    checkKey(key);
    const path = `/${bucket}/${key}`;
    const link = { method, base: publicEndpoint, path, region, credentials, now: clock.now(), expiresInSeconds };
    return { method, url: signLink({ ...link, query }) };
  };

  return {
    bucket,
    put,

    async putFile(key, path, { contentType }) {
      checkKey(key);
      const source = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
      const stream = source.createReadStream({ highWaterMark: readBytes, autoClose: false });
      const info = await put(key, stream, { contentType }).finally(() => source.close());
      await unlink(path);
      return info;
    },

    async stat(key) {
      checkKey(key);
      try {
        return toInfo(await call(new HeadObjectCommand({ Bucket: bucket, Key: key })));
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },

    async open(key, range) {
      checkKey(key);
      if (range && (range.start < 0 || range.end < range.start)) throw noSuchRange(range.start, range.end);
      const Range = range && `bytes=${range.start}-${range.end}`;
      try {
        const answer = await call(new GetObjectCommand({ Bucket: bucket, Key: key, Range }));
        const size = Number(/\/(\d+)$/.exec(answer.ContentRange ?? "")?.[1] ?? answer.ContentLength);
        return { info: toInfo({ ...answer, ContentLength: size }), body: guardDownload(answer.Body, patienceMs) };
      } catch (error) {
        if (isMissing(error)) return undefined;
        if (range && error instanceof Error && error.name === "InvalidRange") throw noSuchRange(range.start, range.end);
        throw error;
      }
    },

    async delete(key) {
      checkKey(key);
      await call(new DeleteObjectCommand({ Bucket: bucket, Key: key })).catch((error) => {
        if (!isMissing(error)) throw error;
      });
    },

    async *keys(Prefix = "") {
      for (let ContinuationToken: string | undefined; ; ) {
        const page = await call(new ListObjectsV2Command({ Bucket: bucket, Prefix, ContinuationToken }));
        for (const { Key } of page.Contents ?? []) if (Key !== undefined) yield Key;
        ContinuationToken = page.NextContinuationToken;
        if (!page.IsTruncated || ContinuationToken === undefined) return;
      }
    },

    async signGet(key, { expiresInSeconds, contentType }) {
      const link = sign("GET", key, expiresInSeconds, {
        "response-content-type": contentType,
        "response-content-disposition": dispositionOf(contentType),
      });
      // The limit for names does not depend on the detected content type.
      checkLinkLength(link.url.length - encodeStrict(contentType).length + longestEncodedType);
      return link;
    },

    signPut: async (key, { expiresInSeconds }) => sign("PUT", key, expiresInSeconds),

    async close() {
      clearInterval(clearTimer);
      await clearing;
      client.destroy();
    },
  };
}

interface Described {
  ContentLength?: number | undefined;
  ContentType?: string | undefined;
  ETag?: string | undefined;
  LastModified?: Date | undefined;
}

function toInfo({ ContentLength, ContentType, ETag, LastModified }: Described): BlobInfo {
  if (ContentLength === undefined || LastModified === undefined) throw new Error("S3 described an object incompletely");
  const contentType = ContentType ?? "application/octet-stream";
  return { size: ContentLength, contentType, etag: etagOf(ETag), modifiedAt: LastModified };
}

function noSuchRange(start: number, end: number): RangeError {
  return new RangeError(`range ${start}-${end} is not available`);
}
