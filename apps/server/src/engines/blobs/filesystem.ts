import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { type Clock, systemClock } from "../../kernel/clock.ts";
import { fault } from "../../kernel/errors.ts";
import type { BlobInfo, ByteRange, LinkServedStore, PutOptions } from "./blobs.ts";
import { asStorageFault, hasCode, openDirectorySync, syncDirectory, writeBody } from "./disk-writes.ts";
import { encodeFooter, hashKey, newEtag, readInfo, readKey } from "./object-file.ts";
import { checkKey } from "./object-key.ts";
import { type SigningCredentials, signLink, verifyLink } from "./signature.ts";
import { openTemporaryFiles } from "./temporary-files.ts";
import { decodePercent } from "./uri-encoding.ts";

/** Clients expect a region in links; its value has no meaning here. */
const region = "local";
const readBytes = 256 * 1024;
const digits = "0123456789abcdef";

/**
 * The embedded store: one file per object in `<home>/blobs/<bucket>`, named by the hash of its key.
 *
 *     temporary file ──► body ──► footer ──► fsync ──► rename ──► fsync of the directory ──► answered
 */
export async function openFilesystemBlobs(options: {
  home: string;
  bucket: string;
  credentials: SigningCredentials;
  clock?: Clock;
  /** Base URL of links, if it differs from the server's. */
  linkBase?: string | undefined;
}): Promise<LinkServedStore> {
  const { home, bucket, credentials, clock = systemClock, linkBase } = options;
  if (!/^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/.test(bucket)) throw new Error(`${bucket} is not a valid bucket name`);
  const root = join(home, "blobs", bucket);
  const directories = Array.from(digits, (digit) => join(root, digit));
  for (const directory of directories) await mkdir(directory, { recursive: true, mode: 0o700 });
  const temporary = await openTemporaryFiles(join(root, "tmp"));
  for (const directory of [root, dirname(root), home]) await syncDirectory(directory);
  const renames = await openDirectorySync(directories);
  const linkRoot = `/s3/${bucket}/`;

  const pathOf = (key: string) => {
    checkKey(key);
    const name = hashKey(key);
    return join(root, name.charAt(0), name);
  };

  async function publish(handle: FileHandle, from: string, key: string, after?: Promise<unknown>): Promise<Date> {
    await handle.datasync();
    await after;
    const path = pathOf(key);
    await rename(from, path);
    await Promise.all([renames.sync(dirname(path)), handle.close()]);
    return clock.now();
  }

  async function put(
    key: string,
    body: Readable | Uint8Array,
    { contentType, ...options }: PutOptions,
  ): Promise<BlobInfo> {
    const { signal, after } = options;
    // Awaited once the bytes are written; until then a rejection must not count as unhandled.
    after?.catch(() => {});
    checkKey(key);
    const etag = newEtag();
    const footer = (size: number) => encodeFooter({ key, contentType, etag, size });
    const file = await temporary.create().catch((error) => Promise.reject(asStorageFault(error)));
    try {
      const size = await writeBody(file.handle, body, footer, options);
      signal?.throwIfAborted();
      return { size, contentType, etag, modifiedAt: await publish(file.handle, file.path, key, after) };
    } catch (error) {
      await file.discard();
      throw signal?.aborted ? signal.reason : asStorageFault(error);
    }
  }

  async function openObject(key: string): Promise<FileHandle | undefined> {
    try {
      return await open(pathOf(key), "r");
    } catch (error) {
      if (hasCode(error, "ENOENT")) return undefined;
      throw error;
    }
  }

  const sign = (method: "GET" | "PUT", key: string, base: string, expiresInSeconds: number) => {
    checkKey(key);
    const link = { method, path: linkRoot + key, region, credentials, now: clock.now(), expiresInSeconds };
    return { method, url: signLink({ ...link, base: linkBase ?? base, query: { Expires: String(expiresInSeconds) } }) };
  };

  return {
    bucket,
    put,

    async putFile(key, path, { contentType }) {
      checkKey(key);
      const handle = await open(path, constants.O_RDWR | constants.O_APPEND | constants.O_NOFOLLOW);
      const { size } = await handle.stat();
      try {
        const etag = newEtag();
        await handle.chmod(0o600);
        await handle.appendFile(encodeFooter({ key, contentType, etag, size }));
        return { size, contentType, etag, modifiedAt: await publish(handle, path, key) };
      } catch (error) {
        await handle.close().catch(() => {});
        const original = await open(path, "r+");
        await original.truncate(size).finally(() => original.close());
        if (!hasCode(error, "EXDEV")) throw asStorageFault(error);
      }
      const source = await open(path, "r");
      const info = await put(key, source.createReadStream({ highWaterMark: readBytes }), { contentType }).finally(() =>
        source.close(),
      );
      await unlink(path);
      return info;
    },

    async stat(key) {
      const handle = await openObject(key);
      return handle && (await readInfo(handle, key).finally(() => handle.close()));
    },

    async open(key, range) {
      const handle = await openObject(key);
      if (!handle) return undefined;
      try {
        const info = await readInfo(handle, key);
        const body = await openBody(handle, info.size, range);
        return { info, body };
      } catch (error) {
        await handle.close();
        throw error;
      }
    },

    async delete(key) {
      const path = pathOf(key);
      try {
        await unlink(path);
      } catch (error) {
        if (hasCode(error, "ENOENT")) return;
        throw error;
      }
      await renames.sync(dirname(path));
    },

    async *keys(prefix = "") {
      for (const directory of directories) {
        for (const name of await readdir(directory)) {
          const key = await keyOf(join(directory, name));
          if (key?.startsWith(prefix)) yield key;
        }
      }
    },

    // The content type is decided when the link is served.
    async signGet(key, { base, expiresInSeconds }) {
      return sign("GET", key, base, expiresInSeconds);
    },

    async signPut(key, { base, expiresInSeconds }) {
      return sign("PUT", key, base, expiresInSeconds);
    },

    checkLink({ method, path, query, origins }) {
      verifyLink({
        methods: method === "HEAD" ? ["HEAD", "GET"] : [method],
        addresses: origins.map(({ host, prefix }) => ({ host, path: prefix + path })),
        query,
        region,
        credentials,
        now: clock.now(),
      });
      const plain = decodePercent(path) ?? "";
      if (!plain.startsWith(linkRoot)) throw fault("not_found", "File not found");
      return { key: plain.slice(linkRoot.length) };
    },

    close: () => renames.close(),
  };
}

/** Undefined if the object was deleted meanwhile or is damaged. */
async function keyOf(path: string): Promise<string | undefined> {
  const handle = await open(path, "r").catch((error) => {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  });
  return handle && (await readKey(handle).finally(() => handle.close()));
}

async function openBody(handle: FileHandle, size: number, range: ByteRange | undefined): Promise<Readable> {
  const { start, end } = { start: range?.start ?? 0, end: Math.min(range?.end ?? size - 1, size - 1) };
  if (range && (start < 0 || start >= size || end < start))
    throw new RangeError(`range ${start}-${end} is outside of ${size} bytes`);
  if (size > 0) return handle.createReadStream({ start, end, highWaterMark: readBytes });
  await handle.close();
  return Readable.from([]);
}
