import { createHash, randomBytes } from "node:crypto";
import type { Stats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import type { BlobInfo } from "./blobs.ts";

/**
 * File format of an object: one file, so that one rename publishes bytes and description together.
 *
 *     body | description (JSON) | its length, 4 bytes | magic, 8 bytes
 *
 * The description follows the body because the size is known last, and so that a file can be moved in without a copy.
 */
const magic = Buffer.from("GANTRYB1");
const trailerBytes = 4 + magic.length;
/** Fits the longest description: a key of 1024 bytes in base64 and a content type of 255 characters. */
const tailBytes = 4096;

interface Description {
  key: string;
  contentType: string;
  etag: string;
  size: number;
}

/** The dash tells clients that the etag is not an MD5, as in S3's multipart uploads. */
export function newEtag(): string {
  return `${randomBytes(16).toString("hex")}-1`;
}

export function encodeFooter(description: Description): Buffer {
  const key = Buffer.from(description.key).toString("base64url");
  const text = Buffer.from(JSON.stringify({ ...description, key }));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(text.length);
  return Buffer.concat([text, length, magic]);
}

async function readTail(handle: FileHandle): Promise<{ stat: Stats; tail: Buffer }> {
  const stat = await handle.stat();
  const tail = Buffer.alloc(Math.min(tailBytes, stat.size));
  await handle.read(tail, 0, tail.length, stat.size - tail.length);
  return { stat, tail };
}

/** Undefined if the file is damaged. */
export async function readKey(handle: FileHandle): Promise<string | undefined> {
  return decodeFooter((await readTail(handle)).tail)?.key;
}

export async function readInfo(handle: FileHandle, key: string): Promise<BlobInfo> {
  const { stat, tail } = await readTail(handle);
  const description = decodeFooter(tail);
  if (!description || description.key !== key || description.size !== stat.size - footerBytes(tail)) {
    throw new Error(`the stored object of ${JSON.stringify(key)} is damaged`);
  }
  const { size, contentType, etag } = description;
  return { size, contentType, etag, modifiedAt: stat.mtime };
}

function footerBytes(tail: Buffer): number {
  return tail.readUInt32BE(tail.length - trailerBytes) + trailerBytes;
}

function decodeFooter(tail: Buffer): Description | undefined {
  if (tail.length < trailerBytes || !tail.subarray(-magic.length).equals(magic)) return undefined;
  const start = tail.length - footerBytes(tail);
  if (start < 0) return undefined;
  const description = JSON.parse(tail.toString("utf8", start, tail.length - trailerBytes));
  return { ...description, key: Buffer.from(description.key, "base64url").toString() };
}

/** Independent of characters, length and letter case of the key. */
export function hashKey(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}
