import type { Painting, Reference } from "@gantry/painter";

/** By libvips' name of the format. */
export type ImageFormat = "jpeg" | "png" | "webp" | "gif" | "tiff" | "avif";

export interface ImageSize {
  width: number;
  /** Of one frame. */
  height: number;
}

/**
 * The pictures port decodes and paints. Drivers guarantee:
 * - nothing is decoded in the process of the server: its memory does not grow with pictures, and a crash of a decoder does not end it;
 * - every call ends within its time limit, or within a minute;
 * - a call fails because of its own picture only, never because of another's;
 * - if the work is temporarily impossible, the fault is `service_unavailable`.
 *
 * Callers bound the number of calls at the same time and share them fairly.
 */
export interface Pictures {
  /**
   * Reads the size from the header. An image of at most `maxPixels` is decoded to its last row. Undefined if the image is
   * damaged or takes too long.
   */
  inspect(
    source: string | Uint8Array,
    options: { format: ImageFormat; maxPixels: number; maxMs: number },
  ): Promise<ImageSize | undefined>;
  /** The reason why the content checker refuses a prompt. */
  refusalOf(prompt: string, isCheckerOn: boolean): Promise<string | undefined>;
  readReference(bytes: Uint8Array, isOneOfMany: boolean): Promise<Reference | { error: string }>;
  /** A JPEG. The signal stops the work before its next slow part. */
  paint(painting: Painting, references: readonly Reference[], signal: AbortSignal): Promise<Uint8Array>;
  close(): Promise<void>;
}
