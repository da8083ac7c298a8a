// Loaded here too, though only the threads use it: libvips must not be unloaded when a thread ends.
import "sharp";
import { fault } from "../../../../kernel/errors.ts";
import type { FileInput, InputValue, ModelDriver } from "../../driver.ts";
import { referenceFields } from "./manifest.ts";
import { isSize } from "./sizes.ts";
import { createThreadPool } from "./thread-pool.ts";

export { imageManifest } from "./manifest.ts";

/**
 * The driver of `gantry/image`. All painting happens in threads of its own, so the event loop stays free; `workers`
 * bounds the pictures painted at once on this node, the rest wait here. Call `close` when the server stops.
 */
export function createImagePainter(options: { workers?: number } = {}): ModelDriver & { close(): Promise<void> } {
  const pool = createThreadPool({ url: new URL("./paint.worker.ts", import.meta.url), size: options.workers ?? 1 });
  return {
    async run({ input, signal }) {
      const { prompt } = input;
      if (typeof prompt !== "string") throw fault("missing", "Field required", { loc: ["body", "prompt"] });
      const files = new Map(
        referenceFields.flatMap((field) => (isFile(input[field]) ? [[field, input[field]] as const] : [])),
      );
      const size = input.size ?? "2k";
      if (!isSize(size)) throw fault("one_of", "The size is none of the allowed ones.", { loc: ["body", "size"] });
      const job = {
        prompt,
        size,
        watermark: input.watermark === true,
        mode: input.optimize_prompt_mode === "fast" ? ("fast" as const) : ("standard" as const),
        checked: input.enable_safety_checker !== false,
        references: [...files.keys()],
      };
      const body = await pool.run(job, (field) => readWhole(files.get(field), field, signal), signal);
      return { output: { image: { kind: "file", contentType: "image/jpeg", body } } };
    },
    close: () => pool.close(),
  };
}

function isFile(value: InputValue | undefined): value is FileInput {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "file";
}

/** The bytes in memory of their own, which then changes hands. Bounded by the size that was checked at admission. */
async function readWhole(
  file: FileInput | undefined,
  field: string,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  if (!file) throw new Error(`no file was given for ${field}`);
  const bytes = new Uint8Array(file.size);
  let filled = 0;
  for await (const chunk of await file.open()) {
    signal.throwIfAborted();
    const piece = chunk as Uint8Array;
    if (filled + piece.length > bytes.length)
      throw fault("file_too_large", "The file is larger than it was announced.", {
        loc: ["body", field],
        ctx: { max_size: file.size },
      });
    bytes.set(piece, filled);
    filled += piece.length;
  }
  if (filled < bytes.length) throw fault("image_load_error", "The image ended early.", { loc: ["body", field] });
  return bytes;
}
