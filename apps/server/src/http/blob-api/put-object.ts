import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { examineContent } from "../../features/files/index.ts";
import { fault } from "../../kernel/errors.ts";
import { suppressContinue } from "../foundation/expected-continue.ts";
import type { BlobApiDeps } from "./blob-api-deps.ts";

/** How long a refused client may keep sending before its connection is closed. */
const drainMillis = 10_000;

export async function putObject(
  request: FastifyRequest,
  reply: FastifyReply,
  { store, findUploadTarget, recordUpload }: BlobApiDeps,
  key: string,
): Promise<FastifyReply> {
  const sent = request.body instanceof Readable ? request.body : new Uint8Array();
  try {
    const { "content-length": length } = request.headers;
    const target = await findUploadTarget(key, length === undefined ? undefined : Number(length));
    if (!target) throw fault("not_found", "File not found");
    const { maxBytes } = target;
    if (Number(length ?? 0) > maxBytes) {
      throw fault("file_too_large", `The file is larger than ${maxBytes} bytes`, { ctx: { max_size: maxBytes } });
    }
    const filename = key.slice(key.lastIndexOf("/") + 1);
    const declared = [request.headers["content-type"], target.contentType];
    const { body, contentType } = await examineContent(sent, { declared, filename });
    const info = await store.put(key, body, { contentType, maxBytes, ownsChunks: true });
    await recordUpload(key, info);
    return reply.code(200).header("etag", `"${info.etag}"`).send();
  } catch (error) {
    drain(request);
    // The client is gone, but the failure must not be logged as ours.
    if (request.raw.destroyed && !request.raw.complete) throw fault("multipart_invalid", "The upload ended early");
    throw error;
  }
}

/** Lets the client finish or notice, so that it reads the refusal instead of a reset connection. */
function drain({ raw }: FastifyRequest): void {
  if (raw.complete || raw.destroyed) return;
  suppressContinue(raw);
  raw.resume();
  const timer = setTimeout(() => raw.destroy(), drainMillis).unref();
  raw.once("close", () => clearTimeout(timer));
}
