import type { FastifyReply, FastifyRequest } from "fastify";
import type { BlobInfo, LinkServedStore } from "../../features/files/index.ts";
import { fault } from "../../kernel/errors.ts";
import { chooseRange, judgeConditions } from "./conditions.rules.ts";
import { contentHeaders } from "./disposition.rules.ts";

/** Retries if the object is replaced between reading its metadata and opening it. */
const attempts = 5;

export async function getObject(
  request: FastifyRequest,
  reply: FastifyReply,
  store: LinkServedStore,
  key: string,
): Promise<FastifyReply> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const info = await store.stat(key);
    if (!info) throw notFound();
    const etag = `"${info.etag}"`;
    const verdict = judgeConditions(request.headers, { etag, modifiedAt: info.modifiedAt });
    if (verdict === "failed") throw fault("precondition_failed", "The file is not the requested version");
    if (verdict === "unchanged") {
      describe(reply, key, info);
      return reply.code(304).removeHeader("content-type").send();
    }

    const range = chooseRange(wantedRange(request, etag), info.size);
    if (range.kind === "unsatisfiable") {
      // Only byte ranges have this status, so the error table has no row for it.
      reply.code(416).header("content-range", `bytes */${info.size}`).header("x-service-retryable", "false");
      return reply.send({ detail: "The range is past the end of the file", status_code: 416 });
    }
    const [start, end] = range.kind === "part" ? [range.start, range.end] : [0, info.size - 1];
    const opened = request.method === "HEAD" || info.size === 0 ? undefined : await store.open(key, { start, end });
    if (opened && opened.info.etag !== info.etag) {
      opened.body.destroy();
      continue;
    }

    describe(reply, key, info);
    reply.header("content-length", end - start + 1);
    if (range.kind === "part") reply.code(206).header("content-range", `bytes ${start}-${end}/${info.size}`);
    if (opened) return reply.send(opened.body);
    if (request.method === "HEAD" || info.size === 0) return reply.send();
    throw notFound();
  }
  throw fault("service_unavailable", "The file is being replaced too often to be read. Try again.");
}

/** A range applies only to the version that the client already has. */
function wantedRange(request: FastifyRequest, etag: string): string | undefined {
  const condition = request.headers["if-range"];
  return condition === undefined || condition === etag ? request.headers.range : undefined;
}

function describe(reply: FastifyReply, key: string, info: BlobInfo): void {
  reply.headers({
    etag: `"${info.etag}"`,
    "last-modified": info.modifiedAt.toUTCString(),
    "accept-ranges": "bytes",
    // The content can change while an upload link is valid, so clients must revalidate copies.
    "cache-control": "private, no-cache",
    ...contentHeaders(info.contentType, key.slice(key.lastIndexOf("/") + 1)),
  });
}

function notFound() {
  return fault("not_found", "File not found");
}
