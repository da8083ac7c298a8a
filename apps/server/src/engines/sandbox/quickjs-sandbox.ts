import { fault } from "../../kernel/errors.ts";
import { createFairQueue } from "../../kernel/fair-queue.ts";
import { createJobThreads, type JobThreads, type OnThreadTrouble } from "../../kernel/job-threads.ts";
import { type ProgramJob, type ProgramLimits, tookTooLong, tookTooMuch, waitedTooLong } from "./protocol.ts";
import type { Sandbox, SandboxResult } from "./sandbox.ts";
import { type ServedFiles, serveFiles } from "./serve-files.ts";

export interface SandboxOptions {
  cpuMs?: number;
  /** Ends the thread of a program that the interpreter cannot stop. */
  wallMs?: number;
  memoryBytes?: number;
  threads?: number;
  /** Of one user. Further programs are refused with a retryable fault. */
  maxWaiting?: number;
  onTrouble?: OnThreadTrouble;
}

/** A program with files may wait for them. */
const wallMsWithFiles = 30_000;
const mostCodeChars = 1_000_000;
const mostInputChars = 4_000_000;

/** Runs programs with QuickJS in threads. One thread is always left for other users. */
export function createQuickjsSandbox(options: SandboxOptions = {}): Sandbox {
  const { cpuMs = 5000, wallMs = 2 * cpuMs, memoryBytes = 64 * 1_048_576 } = options;
  const { threads = 3, maxWaiting = 256 } = options;
  const crowded = "Too many programs of the same user wait to be run";
  const fairQueue = createFairQueue({ atOnce: threads, ofOne: Math.max(1, threads - 1), maxWaiting, crowded });
  const programs = createJobThreads<ProgramJob, SandboxResult>({
    script: new URL("./sandbox.worker.ts", import.meta.url),
    worker: {
      workerData: { cpuMs, memoryBytes } satisfies ProgramLimits,
      // Neither the program nor its thread sees the environment.
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
    },
    // The interpreter stops most programs earlier, after their processor time.
    deadlineMs: wallMs,
    threads,
    // The fair queue starts only as many programs as there are threads.
    maxWaiting: threads,
    crowded,
    onTrouble: options.onTrouble,
  });

  return {
    async run(code, { userId, input, files, signal }): Promise<SandboxResult> {
      signal.throwIfAborted();
      const given = input === undefined ? undefined : JSON.stringify(input);
      if (code.length > mostCodeChars) return failed(`A program can have at most ${mostCodeChars} characters`);
      // The interpreter ends the program at a NUL.
      if (code.includes("\0")) return failed("The program contains a NUL character");
      if ((given?.length ?? 0) > mostInputChars)
        return failed(`An input can have at most ${mostInputChars} characters`);
      const job: ProgramJob = { code, ...(given !== undefined && { input: given }) };
      const served = files && serveFiles(files);
      const end = await fairQueue(userId, () => programs.run(...withFiles(job, served, signal)), signal).finally(() => {
        served?.close();
      });
      signal.throwIfAborted();
      if (served?.failure() !== undefined) throw served.failure();
      if (end === "stopped") throw fault("service_unavailable", "The server is shutting down");
      if (end === "too slow") return failed(files ? waitedTooLong(wallMsWithFiles) : tookTooLong(cpuMs));
      if (end === "out of memory") return failed(tookTooMuch(memoryBytes));
      if ("failed" in end) return failed("The interpreter failed while it ran the program");
      return end.result;
    },
    close: programs.close,
  };
}

function withFiles(
  job: ProgramJob,
  served: ServedFiles | undefined,
  signal: AbortSignal,
): Parameters<JobThreads<ProgramJob, SandboxResult>["run"]> {
  if (!served) return [job, signal];
  const { channel } = served;
  return [{ ...job, files: channel }, signal, { transfer: [channel.port], deadlineMs: wallMsWithFiles }];
}

const failed = (error: string): SandboxResult => ({ ok: false, error, logs: "" });
