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

/** One of a user's files may be slow: the other thread is for those of others meanwhile. */
const threads = 2;

/** In threads of their own. A file that keeps its parser busy, or that the thread dies of, is unreadable. */
export function createProber(options: {
  maxMs: number;
  maxWaiting: number;
  crowded: string;
  onTrouble?: OnThreadTrouble;
}): Prober {
  const { maxMs, maxWaiting, crowded, onTrouble } = options;
  const inTurn = createFairQueue({ atOnce: threads, ofOne: threads - 1, maxWaiting, crowded });
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
      const end = await inTurn(
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
