import { fault } from "../../kernel/errors.ts";
import { createFairQueue } from "../../kernel/fair-queue.ts";
import { createJobThreads, type OnThreadTrouble } from "../../kernel/job-threads.ts";
import type { InspectOptions, MediaInfo } from "./media.ts";
import type { ProbeJob, ProbeResult } from "./probe.worker.ts";

export interface Prober {
  probe(source: string | Uint8Array, options: ProbeOptions): Promise<MediaInfo>;
  close(): Promise<void>;
}

interface ProbeOptions extends Pick<InspectOptions, "userId" | "formats"> {
  signal: AbortSignal | undefined;
  onBegin(): void;
}

const unreadable: MediaInfo = {
  media: "other",
  extension: "",
  contentType: "application/octet-stream",
  damaged: true,
};

/** One is left for other users while a slow file is parsed. */
const threads = 2;

/** Parses in threads. A file that is too slow, or that kills its thread, is unreadable. */
export function createProber(options: {
  maxMs: number;
  maxWaiting: number;
  crowded: string;
  onTrouble?: OnThreadTrouble;
}): Prober {
  const { maxMs, maxWaiting, crowded, onTrouble } = options;
  const fairQueue = createFairQueue({ atOnce: threads, ofOne: threads - 1, maxWaiting, crowded });
  const jobs = createJobThreads<ProbeJob, ProbeResult>({
    script: new URL("./probe.worker.ts", import.meta.url),
    worker: { resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 } },
    deadlineMs: maxMs,
    threads,
    maxWaiting: threads,
    crowded,
    onTrouble,
  });
  return {
    async probe(source, { userId, formats, signal, onBegin }) {
      const end = await fairQueue(
        userId,
        () => {
          onBegin();
          return jobs.run({ source, formats }, signal);
        },
        signal,
      );
      signal?.throwIfAborted();
      if (end === "stopped") throw fault("service_unavailable", "The server is shutting down");
      if (typeof end === "string" || "failed" in end) return unreadable;
      if ("error" in end.result) throw new Error(end.result.error);
      return end.result.info;
    },
    close: jobs.close,
  };
}
