import { setImmediate } from "node:timers/promises";
import { type Painting, paint, type Reference, readReference, refusalOf } from "@gantry/painter";
import sharp from "sharp";
import { serveJobs } from "../../kernel/serve-jobs.ts";
import { inspectImage } from "./inspect-image.ts";
import type { ImageFormat, ImageSize } from "./pictures.ts";

/** A picture is painted in steps, so that a refused prompt opens no file and only one reference is in memory undecoded. */
export type PictureJob =
  | { step: "inspect"; source: string | Uint8Array; format: ImageFormat; maxPixels: number }
  | { step: "check"; prompt: string; isCheckerOn: boolean }
  | { step: "read"; bytes: Uint8Array; isOneOfMany: boolean }
  | { step: "paint"; painting: Painting; references: readonly Reference[] };

export interface PictureResult {
  size?: ImageSize | undefined;
  refusal?: string | undefined;
  reference?: Reference;
  image?: Uint8Array;
  error?: string;
}

// The cache would keep deleted files open and decoded pixels in memory.
sharp.cache(false);
// One processor per image, so that the number of slots bounds the processors in use.
sharp.concurrency(1);

async function work(job: PictureJob, signal: AbortSignal): Promise<PictureResult> {
  if (job.step === "inspect") return { size: await inspectImage(job.source, job) };
  if (job.step === "check") return { refusal: refusalOf(job.prompt, job.isCheckerOn) };
  if (job.step === "read") return { reference: await readReference(job.bytes, job.isOneOfMany) };
  const proceed = async () => {
    // Lets other jobs and the message that cancels this one through.
    await setImmediate();
    if (signal.aborted) throw new Error("The picture was cancelled");
  };
  const image = await paint(job.painting, job.references, proceed);
  // The collector would let the pixels of several pictures pile up, because it hardly counts memory outside its heap.
  globalThis.gc?.();
  return { image };
}

serveJobs<PictureJob, PictureResult>((job, signal) =>
  work(job, signal).catch((error: unknown) => ({
    error: error instanceof Error ? (error.stack ?? error.message) : String(error),
  })),
);
