/** `logs` is the program's console output. */
export type SandboxResult =
  /** The value of the last expression as JSON, or `undefined`. */
  | { ok: true; value: string; logs: string }
  /** The error for the author of the program. */
  | { ok: false; error: string; logs: string };

/**
 * The sandbox port runs programs that models write. Runs call it once for each program.
 *
 * A program is a JavaScript script. Its value is that of its last expression; promises are awaited. Top-level `await` is
 * allowed, and a program with a top-level `return` is treated as a function body. `input` is a global. Drivers guarantee:
 * - a program has only the language and a console: no network, files, modules, timers or access to this process;
 * - a program leaves nothing behind for the next one;
 * - no program blocks the event loop, takes unbounded memory or exceeds its time;
 * - value, error and logs have a bounded length, mark a cut, and are well-formed text without NUL;
 * - users share the sandbox fairly: one program of each user before a second of any, and one user's programs never take
 *   all slots;
 * - every behaviour of a program is a result. `run` rejects with the signal's reason when it is aborted, and with the
 *   fault `service_unavailable` when too many programs of the user wait, no thread can be started, or it is closed.
 */
export interface Sandbox {
  run(code: string, options: { userId: string; input?: unknown; signal: AbortSignal }): Promise<SandboxResult>;
  close(): Promise<void>;
}
