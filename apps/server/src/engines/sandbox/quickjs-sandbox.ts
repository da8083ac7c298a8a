import { fault } from "../../kernel/errors.ts";
import { createFairQueue } from "../../kernel/fair-queue.ts";
import { createJobThreads, type OnThreadTrouble } from "../../kernel/job-threads.ts";
import { type ProgramJob, type ProgramLimits, tookTooLong, tookTooMuch } from "./protocol.ts";
import type { Sandbox, SandboxResult } from "./sandbox.ts";

export interface SandboxOptions {
  cpuMs?: number;
  /** After which a program that cannot be stopped from inside is ended with its thread. */
  wallMs?: number;
  memoryBytes?: number;
  threads?: number;
  /** Of one user: its next one is refused, retryably. */
  maxWaiting?: number;
  onTrouble?: OnThreadTrouble;
}

const mostCodeChars = 1_000_000;
const mostInputChars = 4_000_000;

/**
 * Programs by QuickJS, in threads of their own. A thread is started when a program needs one, and kept. One user never
 * has all of them: another's first program need not wait for the end of those that are under way.
 */
export function createQuickjsSandbox(options: SandboxOptions = {}): Sandbox {
  const { cpuMs = 5000, wallMs = 2 * cpuMs, memoryBytes = 64 * 1_048_576 } = options;
  const { threads = 3, maxWaiting = 256 } = options;
  const crowded = "Too many programs of the same user wait to be run";
  const inTurn = createFairQueue({ atOnce: threads, ofOne: Math.max(1, threads - 1), maxWaiting, crowded });
  const programs = createJobThreads<ProgramJob, SandboxResult>({
    script: new URL("./sandbox.worker.ts", import.meta.url),
    worker: {
      workerData: { cpuMs, memoryBytes } satisfies ProgramLimits,
      // A program sees nothing of the environment; neither does the thread that it runs in.
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
    },
    // The second clock: a program is stopped from inside after its processor time, where it lets itself be stopped.
    deadlineMs: wallMs,
    threads,
    // Whose turn it is finds a thread.
    maxWaiting: threads,
    crowded,
    onTrouble: options.onTrouble,
  });

  return {
    async run(code, { whose, input, signal }): Promise<SandboxResult> {
      signal.throwIfAborted();
      const given = input === undefined ? undefined : JSON.stringify(input);
      if (code.length > mostCodeChars) return failed(`A program has ${mostCodeChars} characters at most`);
      // The interpreter would take it for the end of the program.
      if (code.includes("\0")) return failed("The program has a NUL character in it");
      if ((given?.length ?? 0) > mostInputChars) return failed(`An input has ${mostInputChars} characters at most`);
      const job: ProgramJob = { code, ...(given !== undefined && { input: given }) };
      const end = await inTurn(whose, () => programs.run(job, signal), signal);
      signal.throwIfAborted();
      if (end === "stopped") throw fault("service_unavailable", "The server is shutting down");
      if (end === "too slow") return failed(tookTooLong(cpuMs));
      if (end === "out of memory") return failed(tookTooMuch(memoryBytes));
      if ("failed" in end) return failed("The interpreter broke off in the middle of the program");
      return end.result;
    },
    close: programs.close,
  };
}

const failed = (error: string): SandboxResult => ({ ok: false, error, logs: "" });
