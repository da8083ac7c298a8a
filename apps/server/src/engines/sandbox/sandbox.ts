/** A file that a program wants to write. */
export interface FileWrite {
  path: string;
  bytes: Uint8Array;
  isText: boolean;
}

/** Thrown by `SandboxFiles`: the program sees the message. */
export class FileRefused extends Error {}

/** Files for a program, as `files.read(path)` and so on. Other errors than `FileRefused` end the program and its `run`. */
export interface SandboxFiles {
  /** At most this many bytes. */
  read(path: string, mostBytes: number): Promise<Uint8Array>;
  /** As the program receives it. */
  list(path: string): Promise<unknown>;
  /** Whether the program may write there. The caller writes the files when the program has ended. */
  checkWrite(path: string): Promise<void>;
}

/** `logs` is the program's console output. */
export type SandboxResult =
  /** The value of the last expression as JSON, or `undefined`. */
  | { ok: true; value: string; logs: string; writes?: readonly FileWrite[] }
  /** The error for the author of the program. */
  | { ok: false; error: string; logs: string };

/**
 * The sandbox port runs programs that models write. Runs call it once for each program.
 *
 * A program is a JavaScript script. Its value is that of its last expression; promises are awaited. Top-level `await` is
 * allowed, and a program with a top-level `return` is treated as a function body. `input` is a global. Drivers guarantee:
 * - a program has only the language, a console and, if given, `files`: no network, modules, timers or access to this
 *   process. Calls and bytes of files are bounded, and nothing is written if the program fails;
 * - a program leaves nothing behind for the next one;
 * - no program blocks the event loop, takes unbounded memory or exceeds its time;
 * - value, error and logs have a bounded length, mark a cut, and are well-formed text without NUL;
 * - users share the sandbox fairly: one program of each user before a second of any, and one user's programs never take
 *   all slots;
 * - every behaviour of a program is a result. `run` rejects with the signal's reason when it is aborted, and with the
 *   fault `service_unavailable` when too many programs of the user wait, no thread can be started, or it is closed.
 */
export interface Sandbox {
  run(
    code: string,
    options: { userId: string; input?: unknown; files?: SandboxFiles | undefined; signal: AbortSignal },
  ): Promise<SandboxResult>;
  close(): Promise<void>;
}
