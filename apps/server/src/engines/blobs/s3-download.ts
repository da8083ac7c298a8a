import { PassThrough, Readable } from "node:stream";
import { asStoreFault } from "./s3-errors.ts";

const stallMs = 30_000;
const bufferBytes = 256 * 1024;

/**
 * The body of an answer for a reader: a store that falls silent, or a connection that breaks, ends it with
 * `service_unavailable`. A reader that takes its time is waited for, and one that comes after the end hears of it.
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
  // The bytes come as soon as they are asked for, and break off perhaps before anybody reads: that must not count as an
  // error that nobody hears. The stream keeps it for whoever reads.
  out.on("error", () => {});
  out.on("close", () => {
    clearInterval(watch);
    body.destroy();
  });
  return out;
}
