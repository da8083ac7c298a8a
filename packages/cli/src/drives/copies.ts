/** One file to copy. */
export interface Copy {
  /** For messages. */
  label: string;
  /** Returns the number of bytes; undefined if the file exists and was left alone. */
  run(signal: AbortSignal): Promise<number | undefined>;
}

/** What cannot be copied, found while the files are listed. */
export interface Refused {
  label: string;
  error: unknown;
}

export interface Copied {
  copied: number;
  skipped: number;
  bytes: number;
  failed: Refused[];
}

/** Enough to hide the time of a request, and few enough for the limits of a plan. */
const atOnce = 6;

/** Copies all files, a few at a time. A file that fails does not stop the others; an interruption does. */
export async function copyAll(
  copies: AsyncIterable<Copy | Refused>,
  signal: AbortSignal,
  progress: (so: Copied) => void,
): Promise<Copied> {
  const result: Copied = { copied: 0, skipped: 0, bytes: 0, failed: [] };
  const running = new Set<Promise<void>>();
  const start = async (copy: Copy): Promise<void> => {
    try {
      const bytes = await copy.run(signal);
      if (bytes === undefined) result.skipped++;
      else {
        result.copied++;
        result.bytes += bytes;
      }
    } catch (error) {
      result.failed.push({ label: copy.label, error });
    }
    progress(result);
  };
  for await (const copy of copies) {
    signal.throwIfAborted();
    if ("error" in copy) {
      result.failed.push(copy);
      continue;
    }
    const work = start(copy).finally(() => running.delete(work));
    running.add(work);
    if (running.size >= atOnce) await Promise.race(running);
  }
  await Promise.all(running);
  signal.throwIfAborted();
  return result;
}
