import { getCompileCacheDir } from "node:module";
import { fault } from "../../kernel/errors.ts";
import { createJobProcesses } from "../../kernel/job-processes.ts";
import type { OnThreadTrouble } from "../../kernel/job-threads.ts";
import type { PictureJob, PictureResult } from "./picture.process.ts";
import type { Pictures } from "./pictures.ts";

export interface PicturesOptions {
  mostResidentBytes?: number;
  idleMs?: number;
  onTrouble?: OnThreadTrouble;
}

/** The time limit of the built-in model in its manifest: no step of a picture is useful for longer. */
const maxPaintMs = 60_000;

const flags = ["--max-old-space-size=512", "--max-semi-space-size=2", "--v8-pool-size=1", "--expose-gc"];

/** For glibc, which otherwise keeps freed pixels in the heaps of its threads: after ten pictures 340 MB instead of 60. */
const allocator = { MALLOC_ARENA_MAX: "2", MALLOC_MMAP_THRESHOLD_: "131072", MALLOC_TRIM_THRESHOLD_: "131072" };

/** Pictures in a process beside the server. */
export function createPictures(options: PicturesOptions = {}): Pictures & { pids(): number[] } {
  const { mostResidentBytes = 256 * 1024 * 1024, idleMs = 300_000, onTrouble } = options;
  const cache = getCompileCacheDir();
  const processes = createJobProcesses<PictureJob, PictureResult>({
    script: new URL("./picture.process.ts", import.meta.url),
    flags,
    env: { ...allocator, ...(cache !== undefined && { NODE_COMPILE_CACHE: cache }) },
    ...{ mostResidentBytes, idleMs, onTrouble },
  });

  async function work(job: PictureJob, signal?: AbortSignal): Promise<PictureResult> {
    const end = await processes.run(job, { deadlineMs: maxPaintMs, ...(signal && { signal }) });
    if (typeof end === "object" && "result" in end) return end.result;
    const cause = typeof end === "string" ? new Error(end) : end.failed;
    throw fault("internal_server_error", "The painter stopped unexpectedly.", { cause });
  }

  return {
    async inspect(source, { format, maxPixels, maxMs }) {
      const end = await processes.run({ step: "inspect", source, format, maxPixels }, { deadlineMs: maxMs });
      if (end === "stopped") throw fault("service_unavailable", "The server is shutting down");
      return typeof end === "object" && "result" in end ? end.result.size : undefined;
    },
    async refusalOf(prompt, isCheckerOn) {
      const { refusal, error } = await work({ step: "check", prompt, isCheckerOn });
      if (error !== undefined) throw new Error(error);
      return refusal;
    },
    async readReference(bytes, isOneOfMany) {
      const { reference, error } = await work({ step: "read", bytes, isOneOfMany });
      return reference ?? { error: String(error) };
    },
    async paint(painting, references, signal) {
      const { image, error } = await work({ step: "paint", painting, references }, signal);
      if (!image) throw fault("internal_server_error", "The painter failed.", { cause: new Error(error) });
      return image;
    },
    pids: processes.pids,
    close: processes.close,
  };
}
