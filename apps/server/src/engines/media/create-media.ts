import { open } from "node:fs/promises";
import { createFairQueue } from "../../kernel/fair-queue.ts";
import type { OnThreadTrouble } from "../../kernel/job-threads.ts";
import {
  type ImageFormat,
  imageFormatOf,
  imageKinds,
  inspectImage,
  namedByHead,
  rarerFormatOf,
} from "./inspect-image.ts";
import type { InspectOptions, Media, MediaInfo } from "./media.ts";
import { createProber } from "./prober.ts";

export interface MediaOptions {
  /** Pictures decoded at the same time: each may need the memory of all its pixels. One user has never all of them. */
  parallelDecodes?: number;
  /** For one picture. */
  maxDecodeMs?: number;
  /** For one file that is not a common image. */
  maxProbeMs?: number;
  /** Told of what it took to judge a file, beside a look at its head. */
  onWork?: (work: "probe" | "decode") => void;
  onTrouble?: OnThreadTrouble;
}

/** Files of one user that may wait, for a decode or for a prober. */
const maxWaiting = 256;
const crowded = "Too many of your files are waiting to be checked. Try again in a moment.";
const unknown: MediaInfo = { media: "other", extension: "", contentType: "application/octet-stream" };

export function createMedia(options: MediaOptions = {}): Media {
  const { parallelDecodes = 2, maxDecodeMs = 5_000, maxProbeMs = 5_000, onWork, onTrouble } = options;
  const prober = createProber({ maxMs: maxProbeMs, maxWaiting, crowded, ...(onTrouble && { onTrouble }) });
  const decodeInTurn = createFairQueue({
    atOnce: parallelDecodes,
    ofOne: Math.max(1, parallelDecodes - 1),
    maxWaiting,
    crowded,
  });

  /**
   * Answers when the time is over, but gives the turn back only when libvips has ended: it stops between two rows of
   * pixels, and formats that are decoded as a whole cannot be stopped.
   */
  function decode(source: string | Uint8Array, format: ImageFormat, { userId, maxPixels, signal }: InspectOptions) {
    return new Promise<MediaInfo>((resolve, reject) => {
      const work = async () => {
        onWork?.("decode");
        const late = setTimeout(() => resolve({ ...imageKinds[format], damaged: true }), maxDecodeMs);
        try {
          resolve(await inspectImage(source, format, { maxPixels, maxMs: maxDecodeMs }));
        } finally {
          clearTimeout(late);
        }
      };
      decodeInTurn(userId, work, signal).catch(reject);
    });
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
