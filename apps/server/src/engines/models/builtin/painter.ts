import type { Reference } from "@gantry/painter";
import { isSize, sizes } from "@gantry/painter/options";
import { fault } from "../../../kernel/errors.ts";
import { createFairQueue } from "../../../kernel/fair-queue.ts";
import { unlessAborted } from "../../../kernel/unless-aborted.ts";
import type { Pictures } from "../../pictures/pictures.ts";
import { type FileInput, isFileInput, type ModelCall, type ModelDriver } from "../driver.ts";
import { referenceFields } from "./image-manifest.ts";

/** Pictures painted at the same time on this node. The others wait in order of arrival. */
const atOnce = 1;

/** The driver of `gantry/image`. */
export function createImagePainter(pictures: Pictures): ModelDriver & { close(): Promise<void> } {
  const closing = new AbortController();
  const unfinished = new Set<Promise<Uint8Array>>();
  const crowded = "Too many pictures are waiting. Try again later.";
  const unbounded = Number.POSITIVE_INFINITY;
  const inOrder = createFairQueue({ atOnce, ofOne: atOnce, maxWaiting: unbounded, crowded });

  async function paint({ input, signal }: ModelCall): Promise<Uint8Array> {
    const { prompt, size = "2k" } = input;
    if (typeof prompt !== "string") throw fault("missing", "Field required", { loc: ["body", "prompt"] });
    if (!isSize(size)) {
      const options = Object.keys(sizes).join(", ");
      throw fault("one_of", `Value is not one of the allowed options: ${options}.`, { loc: ["body", "size"] });
    }
    const refusal = await pictures.refusalOf(prompt, input.enable_safety_checker !== false);
    if (refusal !== undefined) {
      const msg = `The prompt was refused by the content checker (${refusal}).`;
      throw fault("content_policy_violation", msg, { loc: ["body", "prompt"] });
    }
    const given = referenceFields.filter((field) => isFileInput(input[field]));
    const references: Reference[] = [];
    for (const field of given) {
      const bytes = await unlessAborted(readWhole(input[field] as FileInput, field, signal), signal);
      const reference = await pictures.readReference(bytes, given.length > 3);
      if ("error" in reference) {
        const cause = new Error(reference.error);
        throw fault("image_load_error", "The image could not be decoded.", { loc: ["body", field], cause });
      }
      references.push(reference);
      signal.throwIfAborted();
    }
    const [width, height] = sizes[size];
    const mode = input.optimize_prompt_mode === "fast" ? "fast" : "standard";
    const painting = { prompt, width, height, watermark: input.watermark === true, mode } as const;
    return pictures.paint(painting, references, signal);
  }

  return {
    async run(call) {
      const { signal } = call;
      const painted = inOrder("", () => paint(call), AbortSignal.any([signal, closing.signal]));
      unfinished.add(painted);
      const forget = () => unfinished.delete(painted);
      painted.then(forget, forget);
      const body = await unlessAborted(painted, signal);
      return { output: { image: { kind: "file", contentType: "image/jpeg", body } } };
    },
    /** Fails waiting pictures and finishes running ones. */
    async close() {
      closing.abort(fault("service_unavailable", "The painter is shutting down."));
      await Promise.allSettled(unfinished);
    },
  };
}

/** The size was checked at admission. */
async function readWhole(file: FileInput, field: string, signal: AbortSignal): Promise<Uint8Array> {
  const bytes = new Uint8Array(file.size);
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
