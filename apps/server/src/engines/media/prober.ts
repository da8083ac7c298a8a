import { fault } from "../../kernel/errors.ts";
import { createJobThreads, type OnThreadTrouble } from "../../kernel/job-threads.ts";
import type { MediaInfo } from "./media.ts";
import type { ProbeJob, ProbeResult } from "./probe.worker.ts";

export interface Prober {
  probe(source: string | Uint8Array): Promise<MediaInfo>;
  close(): Promise<void>;
}

const unreadable: MediaInfo = {
  media: "other",
  extension: "",
  contentType: "application/octet-stream",
  damaged: true,
};

/** One file at a time, in a thread of its own. One that keeps its parser busy, or that the thread dies of, is unreadable. */
export function createProber({ maxMs, onTrouble }: { maxMs: number; onTrouble?: OnThreadTrouble }): Prober {
  const threads = createJobThreads<ProbeJob, ProbeResult>({
    script: new URL("./probe.worker.ts", import.meta.url),
    worker: { resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 } },
    deadlineMs: maxMs,
    threads: 1,
    maxWaiting: 1000,
    crowded: "Too many files wait to be looked at",
    onTrouble,
  });
  return {
    async probe(source) {
      const end = await threads.run({ source });
      if (end === "stopped") throw fault("service_unavailable", "The server is shutting down");
      if (typeof end === "string" || "failed" in end) return unreadable;
      if ("error" in end.result) throw new Error(end.result.error);
      return end.result.info;
    },
    close: threads.close,
  };
}
