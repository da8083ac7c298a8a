import { PassThrough, Readable } from "node:stream";
import { asStoreFault } from "./s3-errors.ts";

const stallMs = 30_000;
const bufferBytes = 256 * 1024;

/**
 * Wraps a response body: a stalled or broken connection ends it with `service_unavailable`. A slow reader is not an
 * error, and a late reader still receives the error.
 */
export function guardDownload(body: unknown, patienceMs = stallMs): Readable {
  if (!(body instanceof Readable)) throw new Error("S3 answered without a body");
  const out = new PassThrough({ highWaterMark: bufferBytes });
  let lastAt = performance.now();
  const watch = setInterval(() => {
    if (out.writableNeedDrain) lastAt = performance.now();
    else if (performance.now() - lastAt > patienceMs) body.destroy(new Error("S3 stopped sending"));
  }, patienceMs / 4);
  watch.unref();
  body.pipe(out);
  body.on("data", () => {
    lastAt = performance.now();
  });
  body.on("error", (error) => out.destroy(asStoreFault(error)));
  body.on("close", () => {
    if (!body.readableEnded) out.destroy(asStoreFault(new Error("S3 closed the connection")));
  });
  // The body may break before it is read. The stream keeps the error for its reader.
  out.on("error", () => {});
  out.on("close", () => {
    clearInterval(watch);
    body.destroy();
  });
  return out;
}
