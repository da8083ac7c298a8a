// Loaded here although only the threads use it: libvips must not be unloaded when a thread ends.
import "sharp";
import type { Reference } from "@gantry/painter";
import { isSize, sizes } from "@gantry/painter/options";
import { fault } from "../../../kernel/errors.ts";
import { createFairQueue } from "../../../kernel/fair-queue.ts";
import { createJobThreads, type OnThreadTrouble } from "../../../kernel/job-threads.ts";
import { unlessAborted } from "../../../kernel/unless-aborted.ts";
import { type FileInput, isFileInput, type ModelCall, type ModelDriver } from "../driver.ts";
import { referenceFields } from "./image-manifest.ts";
import type { PainterJob, PainterResult } from "./paint.worker.ts";

/** The time limit of the model in its manifest: no job of a picture is useful for longer. */
const deadlineMs = 60_000;

/**
 * The driver of `gantry/image`. It paints in threads, so the event loop stays free. `workers` bounds the pictures painted
 * at once on this node; the others wait in order of arrival.
 */
export function createImagePainter(
  options: { workers?: number; onTrouble?: OnThreadTrouble } = {},
): ModelDriver & { close(): Promise<void> } {
  const { workers = 1, onTrouble } = options;
  const closing = new AbortController();
  const unfinished = new Set<Promise<Uint8Array>>();
  const crowded = "Too many pictures are waiting. Try again later.";
  const unbounded = Number.POSITIVE_INFINITY;
  const inOrder = createFairQueue({ atOnce: workers, ofOne: workers, maxWaiting: unbounded, crowded });
  const threads = createJobThreads<PainterJob, PainterResult>({
    script: new URL("./paint.worker.ts", import.meta.url),
    worker: { resourceLimits: { maxOldGenerationSizeMb: 512 } },
    ...{ deadlineMs, threads: workers, maxWaiting: unbounded, crowded, onTrouble },
  });

  async function work(job: PainterJob): Promise<PainterResult> {
    const end = await threads.run(job);
    if (typeof end === "object" && "result" in end) return end.result;
    const cause = typeof end === "string" ? new Error(end) : end.failed;
    throw fault("internal_server_error", "The painter stopped unexpectedly.", { cause });
  }

  async function paint({ input, signal }: ModelCall, cancelled: Int32Array<SharedArrayBuffer>): Promise<Uint8Array> {
    const { prompt, size = "2k" } = input;
    if (typeof prompt !== "string") throw fault("missing", "Field required", { loc: ["body", "prompt"] });
    if (!isSize(size)) {
      const options = Object.keys(sizes).join(", ");
      throw fault("one_of", `Value is not one of the allowed options: ${options}.`, { loc: ["body", "size"] });
    }
    const { refusal } = await work({ step: "check", prompt, isCheckerOn: input.enable_safety_checker !== false });
    if (refusal !== undefined) {
      const msg = `The prompt was refused by the content checker (${refusal}).`;
      throw fault("content_policy_violation", msg, { loc: ["body", "prompt"] });
    }
    const given = referenceFields.filter((field) => isFileInput(input[field]));
    const references: Reference[] = [];
    for (const field of given) {
      const bytes = await unlessAborted(readWhole(input[field] as FileInput, field, signal), signal);
      const { reference, error } = await work({ step: "read", bytes, isOneOfMany: given.length > 3 });
      if (!reference) {
        const loc = ["body", field];
        throw fault("image_load_error", "The image could not be decoded.", { loc, cause: new Error(error) });
      }
      references.push(reference);
      signal.throwIfAborted();
    }
    const [width, height] = sizes[size];
    const mode = input.optimize_prompt_mode === "fast" ? "fast" : "standard";
    const painting = { prompt, width, height, watermark: input.watermark === true, mode } as const;
    const { image, error } = await work({ step: "paint", painting, references, cancelled });
    if (!image) throw fault("internal_server_error", "The painter failed.", { cause: new Error(error) });
    return image;
  }

  return {
    async run(call) {
      const { signal } = call;
      // A flag instead of ending the thread: libvips may be at work in it, and ending it then is not safe.
      const cancelled = new Int32Array(new SharedArrayBuffer(4));
      const painted = inOrder("", () => paint(call, cancelled), AbortSignal.any([signal, closing.signal]));
      unfinished.add(painted);
      const cancel = () => Atomics.store(cancelled, 0, 1);
      signal.addEventListener("abort", cancel, { once: true });
      const forget = () => {
        unfinished.delete(painted);
        signal.removeEventListener("abort", cancel);
      };
      painted.then(forget, forget);
      const body = await unlessAborted(painted, signal);
      return { output: { image: { kind: "file", contentType: "image/jpeg", body } } };
    },
    /** Fails waiting pictures, finishes running ones, then ends the threads. */
    async close() {
      closing.abort(fault("service_unavailable", "The painter is shutting down."));
      await Promise.allSettled(unfinished);
      await threads.close();
    },
  };
}

/** Shared memory spares a copy when the bytes go to the thread. Their number was checked at admission. */
async function readWhole(file: FileInput, field: string, signal: AbortSignal): Promise<Uint8Array<SharedArrayBuffer>> {
  const bytes = new Uint8Array(new SharedArrayBuffer(file.size));
  let filled = 0;
  for await (const chunk of (await file.open()) as AsyncIterable<Uint8Array>) {
    signal.throwIfAborted();
    if (filled + chunk.length > bytes.length)
      throw fault("file_too_large", "The file is larger than announced.", {
        loc: ["body", field],
        ctx: { max_size: file.size },
      });
    bytes.set(chunk, filled);
    filled += chunk.length;
  }
  if (filled < bytes.length) throw fault("image_load_error", "The image ended early.", { loc: ["body", field] });
  return bytes;
}
