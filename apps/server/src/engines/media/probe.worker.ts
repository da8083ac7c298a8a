import { open } from "node:fs/promises";
import { parentPort } from "node:worker_threads";
import { fileTypeFromBuffer, fileTypeFromFile } from "file-type";
import { BufferSource, CustomSource, Input, MATROSKA, MP4, QTFF, type Source, WEBM } from "mediabunny";
import type { FromThread, Numbered } from "../../kernel/job-thread.ts";
import type { MediaInfo } from "./media.ts";
import { createReadBudget } from "./read-budget.rules.ts";

/** Runs in a thread that can be ended: a hostile file may state table sizes that keep its parser busy for ever. */
export interface ProbeJob {
  source: string | Uint8Array;
  /** Tracks are read only for accepted formats. */
  formats: ReadonlySet<string> | undefined;
}

export type ProbeResult = { info: MediaInfo } | { error: string };

const timed = new Set([".mp4", ".mov", ".webm", ".mkv", ".m4a"]);
/** `file-type` distinguishes Apple's variants of MP4, which are the same container. */
const sameAs: Readonly<Record<string, string>> = {
  m4v: "mp4",
  f4v: "mp4",
  m4b: "m4a",
  m4p: "mp4",
  jpeg: "jpg",
  tif: "tiff",
};

async function probe({ source, formats }: ProbeJob): Promise<MediaInfo> {
  const found = await (typeof source === "string" ? fileTypeFromFile(source) : fileTypeFromBuffer(source));
  if (!found) {
    if (await isText(source)) return { media: "other", extension: ".txt", contentType: "text/plain" };
    return { media: "other", extension: "", contentType: "application/octet-stream" };
  }
  const extension = `.${sameAs[found.ext] ?? found.ext}`;
  const contentType = extension === ".mp4" ? "video/mp4" : found.mime;
  const family = contentType.slice(0, contentType.indexOf("/"));
  const media = family === "image" || family === "video" || family === "audio" ? family : "other";
  const info: MediaInfo = { media, extension, contentType };
  const isWanted = formats === undefined || formats.has(extension);
  return isWanted && timed.has(extension) ? readTracks(source, info) : info;
}

/**
 * The duration comes from the packets, because the header may state anything. Only the duration of the last frame, which
 * WebM does not store, comes from the header: less than a second.
 */
async function readTracks(source: string | Uint8Array, info: MediaInfo): Promise<MediaInfo> {
  const input = new Input({
    formats: [MP4, QTFF, WEBM, MATROSKA],
    source: typeof source === "string" ? await openFile(source) : new BufferSource(source),
  });
  try {
    const tracks = await input.getTracks();
    if (tracks.length === 0) return { ...info, damaged: true };
    const packets = await input.computeDuration();
    const stated = (await input.getDurationFromMetadata()) ?? packets;
    const durationSeconds = Math.round((stated > packets && stated < packets + 1 ? stated : packets) * 1000) / 1000;
    const video = await input.getPrimaryVideoTrack();
    if (!video) {
      // A video container with audio only.
      return { ...info, media: "audio", contentType: info.contentType.replace(/^video\//, "audio/"), durationSeconds };
    }
    const width = await video.getDisplayWidth();
    const height = await video.getDisplayHeight();
    return { ...info, media: "video", width, height, durationSeconds };
  } catch {
    return { ...info, damaged: true };
  } finally {
    input.dispose();
  }
}

async function openFile(path: string): Promise<Source> {
  const file = await open(path);
  const { size } = await file.stat();
  const budget = createReadBudget(size);
  return new CustomSource({
    prefetchProfile: "fileSystem",
    getSize: () => size,
    async read(start, end) {
      budget.take(end - start);
      const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(end - start), position: start });
      return buffer.subarray(0, bytesRead);
    },
    dispose: () => void file.close(),
  });
}

async function isText(source: string | Uint8Array): Promise<boolean> {
  const head = typeof source === "string" ? await firstBytes(source) : source.subarray(0, 65_536);
  if (head.length === 0 || head.includes(0)) return false;
  try {
    // `stream` accepts a character that the end of the sample cuts in two.
    new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
    return true;
  } catch {
    return false;
  }
}

async function firstBytes(path: string): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(65_536), position: 0 });
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

const send = (message: FromThread<ProbeResult>) => parentPort?.postMessage(message);

parentPort?.on("message", async ({ id, ...job }: Numbered<ProbeJob>) => {
  const result: ProbeResult = await probe(job).then(
    (info) => ({ info }),
    (error: unknown) => ({ error: String(error) }),
  );
  send({ id, result });
});
send({ ready: true });
