import { fault } from "../../kernel/errors.ts";
import { type ProgramJob, tookTooLong, tookTooMuch } from "./protocol.ts";
import type { Sandbox, SandboxResult } from "./sandbox.ts";
import { type ProgramEnd, SandboxThread } from "./sandbox-thread.ts";

export interface SandboxOptions {
  cpuMs?: number;
  /** After which a program that cannot be stopped from inside is ended with its thread. */
  wallMs?: number;
  memoryBytes?: number;
  threads?: number;
  /** Who comes when so many wait already is refused, retryably. */
  maxWaiting?: number;
}

const mostCodeChars = 1_000_000;
const mostInputChars = 4_000_000;

interface Waiting {
  job: Omit<ProgramJob, "id">;
  signal: AbortSignal;
  resolve(end: ProgramEnd): void;
  reject(error: Error): void;
}

/** Programs by QuickJS, in threads of their own. A thread is started when a program needs one, and kept. */
export function createQuickjsSandbox(options: SandboxOptions = {}): Sandbox {
  const { cpuMs = 5000, wallMs = 2 * cpuMs, memoryBytes = 64 * 1_048_576 } = options;
  const { threads: most = 2, maxWaiting = 256 } = options;
  const threads = new Set<SandboxThread>();
  const queue: Waiting[] = [];
  let isClosed = false;

  function next(): void {
    while (queue.length > 0) {
      const thread = [...threads].find(({ isIdle }) => isIdle) ?? (threads.size < most ? start() : undefined);
      const waiting = thread && queue.shift();
      if (!waiting) return;
      thread.run(waiting.job, waiting.signal).then((end) => {
        waiting.resolve(end);
        next();
      });
    }
  }

  function start(): SandboxThread {
    const thread = new SandboxThread({ cpuMs, memoryBytes }, wallMs, () => threads.delete(thread));
    threads.add(thread);
    return thread;
  }

  function enqueue(job: Omit<ProgramJob, "id">, signal: AbortSignal): Promise<ProgramEnd> {
    return new Promise((resolve, reject) => {
      if (isClosed) return reject(shuttingDown());
      if (queue.length >= maxWaiting) {
        return reject(fault("service_unavailable", "Too many programs wait to be run"));
      }
      const leave = () => {
        const at = queue.indexOf(waiting);
        if (at === -1) return;
        queue.splice(at, 1);
        resolve("stopped");
      };
      signal.addEventListener("abort", leave, { once: true });
      const done = <T>(tell: (value: T) => void) => {
        return (value: T) => {
          signal.removeEventListener("abort", leave);
          tell(value);
        };
      };
      const waiting: Waiting = { job, signal, resolve: done(resolve), reject: done(reject) };
      queue.push(waiting);
      next();
    });
  }

  return {
    async run(code, { input, signal }): Promise<SandboxResult> {
      signal.throwIfAborted();
      const given = input === undefined ? undefined : JSON.stringify(input);
      if (code.length > mostCodeChars) return failed(`A program has ${mostCodeChars} characters at most`);
      // The interpreter would take it for the end of the program.
      if (code.includes("\0")) return failed("The program has a NUL character in it");
      if ((given?.length ?? 0) > mostInputChars) return failed(`An input has ${mostInputChars} characters at most`);
      const end = await enqueue({ code, ...(given !== undefined && { input: given }) }, signal);
      signal.throwIfAborted();
      if (end === "stopped") throw shuttingDown();
      if (end === "too slow") return failed(tookTooLong(cpuMs));
      if (end === "lost") return failed(tookTooMuch(memoryBytes));
      return end;
    },
    async close() {
      isClosed = true;
      for (const { reject } of queue.splice(0)) reject(shuttingDown());
      await Promise.all([...threads].map((thread) => thread.end()));
    },
  };
}

const failed = (error: string): SandboxResult => ({ ok: false, error, logs: "" });
const shuttingDown = () => fault("service_unavailable", "The server is shutting down");
