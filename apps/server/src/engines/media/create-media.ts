import { open } from "node:fs/promises";
import { createFairQueue } from "../../kernel/fair-queue.ts";
import type { OnThreadTrouble } from "../../kernel/job-threads.ts";
import type { ImageFormat, Pictures } from "../pictures/pictures.ts";
import { imageFormatOf, imageKinds, namedByHead, rarerFormatOf } from "./image-formats.ts";
import type { InspectOptions, Media, MediaInfo } from "./media.ts";
import { createProber } from "./prober.ts";

export interface MediaOptions {
  pictures: Pick<Pictures, "inspect">;
  /** Images decoded at the same time: each needs the memory of all its pixels. One slot is left for other users. */
  parallelDecodes?: number;
  /** For one image. */
  maxDecodeMs?: number;
  /** For one file that is not a common image. */
  maxProbeMs?: number;
  /** Called when a file needs more than a look at its first bytes. */
  onWork?: (work: "probe" | "decode") => void;
  onTrouble?: OnThreadTrouble;
}

/** Files of one user. */
const maxWaiting = 256;
const crowded = "Too many of your files are waiting to be checked. Try again in a moment.";
const unknown: MediaInfo = { media: "other", extension: "", contentType: "application/octet-stream" };

export function createMedia(options: MediaOptions): Media {
  const { pictures, parallelDecodes = 2, maxDecodeMs = 5_000, maxProbeMs = 5_000, onWork, onTrouble } = options;
  const prober = createProber({ maxMs: maxProbeMs, maxWaiting, crowded, ...(onTrouble && { onTrouble }) });
  const fairQueue = createFairQueue({
    atOnce: parallelDecodes,
    ofOne: Math.max(1, parallelDecodes - 1),
    maxWaiting,
    crowded,
  });

  async function decode(
    source: string | Uint8Array,
    format: ImageFormat,
    { userId, maxPixels, signal }: InspectOptions,
  ): Promise<MediaInfo> {
    const inspect = () => {
      onWork?.("decode");
      return pictures.inspect(source, { format, maxPixels, maxMs: maxDecodeMs });
    };
    const size = await fairQueue(userId, inspect, signal);
    return { ...imageKinds[format], ...(size ?? { damaged: true }) };
  }

  return {
    async inspect(source, inspecting): Promise<MediaInfo> {
      const { userId, formats, decodes, signal } = inspecting;
      const isWanted = (extension: string) => formats === undefined || formats.has(extension);
      const format = imageFormatOf(await headOf(source));
      if (format !== undefined) {
        const kind = imageKinds[format];
        return decodes && isWanted(kind.extension) ? decode(source, format, inspecting) : kind;
      }
      if (formats?.isSubsetOf(namedByHead)) return unknown;
      const info = await prober.probe(source, { userId, formats, signal, onBegin: () => onWork?.("probe") });
      const rarer = rarerFormatOf(info);
      return rarer && decodes && isWanted(info.extension) ? decode(source, rarer, inspecting) : info;
    },
    close: prober.close,
  };
}

async function headOf(source: string | Uint8Array): Promise<Buffer> {
  if (typeof source !== "string") return Buffer.from(source.buffer, source.byteOffset, Math.min(source.length, 16));
  const file = await open(source);
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(16), position: 0 });
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
