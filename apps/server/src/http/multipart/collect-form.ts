import type { MultipartEntry, OnFile } from "./form.ts";
import { FormCollector } from "./form-collector.ts";
import type { MultipartLimits } from "./limits.ts";
import type { Scanner } from "./scanner.ts";

export interface FormSource {
  /** The next bytes, undefined at the end of the body; left out where the scanner has all there is. */
  more?: () => Promise<Buffer | undefined>;
  /** What is set here is given the bytes that come while `more` waits, and answers whether it can take more. */
  take?: ((chunk: Buffer) => boolean) | undefined;
  /** Files are streamed to their receiver; otherwise they are handed over in memory. */
  isStreaming: boolean;
  /** The source calls what is set here when it knows that the body will not be complete. */
  onFailure: ((error: unknown) => void) | undefined;
}

/**
 * Reads a form to its end. A piece of a file that its receiver has room for goes from the connection to it at once:
 * by way of promises it would cost as much as writing it, and it would no longer lie in the processor's cache.
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
    // Should the connection fail in the same moment, nobody will ask for it any more.
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
