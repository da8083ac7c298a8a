import { open } from "node:fs/promises";
import type { OnThreadTrouble } from "../../kernel/job-threads.ts";
import { imageFormatOf, inspectImage, isDecodable } from "./inspect-image.ts";
import type { Media, MediaInfo } from "./media.ts";
import { createProber } from "./prober.ts";

export interface MediaOptions {
  /** Pictures decoded at the same time: each may need the memory of all its pixels. */
  parallelDecodes?: number;
  /** For one file that is no common image. */
  maxProbeMs?: number;
  onTrouble?: OnThreadTrouble;
}

export function createMedia({ parallelDecodes = 2, maxProbeMs = 10_000, onTrouble }: MediaOptions = {}): Media {
  const prober = createProber({ maxMs: maxProbeMs, ...(onTrouble && { onTrouble }) });
  const decodes = new Turns(parallelDecodes);

  async function decode(source: string | Uint8Array, format: string, maxPixels: number, signal?: AbortSignal) {
    const done = await decodes.take();
    try {
      signal?.throwIfAborted();
      return await inspectImage(source, format, maxPixels);
    } finally {
      done();
    }
  }

  return {
    async inspect(source, { maxPixels, signal }): Promise<MediaInfo> {
      const format = imageFormatOf(await headOf(source));
      if (format) return (await decode(source, format, maxPixels, signal)) ?? (await prober.probe(source));
      const info = await prober.probe(source);
      signal?.throwIfAborted();
      const rarer = info.media === "image" ? info.extension.slice(1) : "";
      return isDecodable(rarer) ? ((await decode(source, rarer, maxPixels, signal)) ?? info) : info;
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

/** Lets a few through at a time, in the order in which they came. */
class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(size: number) {
    this.#free = size;
  }

  async take(): Promise<() => void> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return () => {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    };
  }
}
