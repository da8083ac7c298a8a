import { constants } from "node:fs";
import { open, unlink } from "node:fs/promises";
import type { Agent as HttpAgent } from "node:http";
import type { Agent as HttpsAgent } from "node:https";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  S3Client,
  type S3ClientConfig,
} from "@aws-sdk/client-s3";
import { type Clock, systemClock } from "../../kernel/clock.ts";
import type { BlobInfo, BlobStore } from "./blobs.ts";
import { checkKey } from "./object-key.ts";
import { abortAbandonedUploads } from "./s3-abandoned.ts";
import { ensureBucket } from "./s3-bucket.ts";
import { callMs, createS3Call } from "./s3-calls.ts";
import { createS3Credentials } from "./s3-credentials.ts";
import { guardDownload } from "./s3-download.ts";
import { isMissing } from "./s3-errors.ts";
import { createS3Links } from "./s3-links.ts";
import { etagOf, uploadBody } from "./s3-upload.ts";

export interface S3Options {
  /** Scheme, host and port of a server that is not AWS; its buckets are addressed by path. */
  endpoint?: string | undefined;
  /** URL of the same server for clients, used in links. */
  publicEndpoint?: string | undefined;
  bucket: string;
  /** If undefined, the SDK finds it in the environment or the shared configuration. */
  region?: string | undefined;
  /** Without keys, the SDK's chain finds credentials: environment, shared files, web identity, roles. */
  accessKeyId?: string | undefined;
  secretAccessKey?: string | undefined;
  sessionToken?: string | undefined;
  /** Replaces the connections of the SDK. */
  agents?: S3Agents | undefined;
  clock?: Clock;
  /** Deadline of a call, besides the time for its bytes. */
  patienceMs?: number;
  /** Called when cleaning up failed; it is retried. */
  onTrouble?: (text: string, error: unknown) => void;
}

export interface S3Agents {
  http: HttpAgent;
  https: HttpsAgent;
}

export const connectMs = 5_000;
export const ofAgents = { keepAlive: true, maxSockets: 256 };
const readBytes = 256 * 1024;
const clearUpEveryMs = 6 * 3_600_000;

/**
 * The external store: any S3 server. Links point straight to it. Rejects with the reason if the bucket cannot be used.
 */
export async function openS3Blobs(options: S3Options): Promise<BlobStore> {
  const { endpoint, publicEndpoint = endpoint, bucket, region } = options;
  const { clock = systemClock, patienceMs = callMs, onTrouble = () => undefined } = options;
  const client = new S3Client({
    ...addressOf(endpoint),
    ...(region !== undefined && { region }),
    ...keysOf(options),
    ...plainChecksums,
    requestHandler: {
      connectionTimeout: connectMs,
      httpAgent: options.agents?.http ?? ofAgents,
      httpsAgent: options.agents?.https ?? ofAgents,
    },
  });
  const call = createS3Call(client, patienceMs);
  try {
    await checkRegion(client);
    await ensureBucket(call, { endpoint: endpoint ?? "AWS", bucket });
  } catch (error) {
    client.destroy();
    throw error;
  }
  const { region: found, credentials } = client.config;
  // Signs only: opens no connection.
  const signer = new S3Client({ ...addressOf(publicEndpoint), ...plainChecksums, region: found, credentials });
  const links = await createS3Links(signer, {
    bucket,
    clock,
    credentials: createS3Credentials(credentials, patienceMs),
  });

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
      checkKey(key);
      return links.forGet(key, { expiresInSeconds, contentType });
    },

    async signPut(key, { expiresInSeconds }) {
      checkKey(key);
      return links.forPut(key, { expiresInSeconds });
    },

    async close() {
      clearInterval(clearTimer);
      await clearing;
      client.destroy();
    },
  };
}

/** Servers other than AWS refuse checksums in trailers. */
const plainChecksums: S3ClientConfig = {
  requestChecksumCalculation: "WHEN_REQUIRED",
  responseChecksumValidation: "WHEN_REQUIRED",
};

/** AWS wants buckets in the host name; other servers rarely have names for them. */
function addressOf(endpoint: string | undefined): S3ClientConfig {
  return endpoint === undefined ? {} : { endpoint, forcePathStyle: true };
}

function keysOf({ accessKeyId, secretAccessKey, sessionToken }: S3Options): S3ClientConfig {
  if (accessKeyId === undefined || secretAccessKey === undefined) return {};
  return { credentials: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) } };
}

async function checkRegion(client: S3Client): Promise<void> {
  try {
    await client.config.region();
  } catch (cause) {
    throw new Error("The region of the bucket is unknown. Set S3_REGION or AWS_REGION.", { cause });
  }
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
