import type { MultipartEntry, MultipartLimits, OnFile } from "./form.ts";
import { FormCollector } from "./form-collector.ts";
import type { Scanner } from "./scanner.ts";

export interface FormSource {
  /** The next bytes; undefined at the end of the body. Omitted if the scanner has all bytes. */
  more?: () => Promise<Buffer | undefined>;
  /** Receives the bytes that arrive while `more` waits; returns whether it can take more. */
  take?: ((chunk: Buffer) => boolean) | undefined;
  /** Whether files are streamed; otherwise they are passed in memory. */
  isStreaming: boolean;
  /** The source calls it when the body cannot become complete. */
  onFailure: ((error: unknown) => void) | undefined;
}

/**
 * Reads a form to its end. A piece of a file goes from the connection to its receiver at once if there is space:
 * through promises it would cost as much as writing it, and would drop out of the processor's cache.
 */
export async function collectForm<T>(
  scanner: Scanner,
  source: FormSource,
  limits: MultipartLimits,
  onFile: OnFile<T>,
): Promise<MultipartEntry<T>[]> {
  const form = new FormCollector(scanner, { limits, onFile, isStreaming: source.isStreaming });
  let waiting: Promise<void> | undefined;
  source.onFailure = (error) => form.interrupt(error);
  source.take = (chunk) => {
    scanner.write(chunk);
    try {
      waiting = form.advance();
    } catch (error) {
      waiting = Promise.reject(error);
    }
    // The connection may fail at the same moment: an unused rejection must not end the process.
    waiting?.catch(() => {});
    return waiting === undefined;
  };

  try {
    for (;;) {
      waiting ??= form.advance();
      if (waiting) {
        await waiting;
        waiting = undefined;
        continue;
      }
      const chunk = source.more && (await source.more());
      if (chunk === undefined) break;
      scanner.write(chunk);
    }
    scanner.finish();
    return form.entries;
  } catch (error) {
    await form.cancel(error);
    throw error;
  }
}
