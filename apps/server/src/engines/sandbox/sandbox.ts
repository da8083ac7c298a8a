/** What became of a program. `logs` is what it wrote to the console, in both cases. */
export type SandboxResult =
  /** The value of its last expression as JSON; `undefined` where there is none. */
  | { ok: true; value: string; logs: string }
  /** Why it has no value, in words for whoever wrote it. */
  | { ok: false; error: string; logs: string };

/**
 * The sandbox port: programs that models write. Called by runs, one call a program.
 *
 * A program is a script of JavaScript; its value is that of its last expression, and a promise is waited for. `await` may
 * stand outside a function; a program that says `return` outside of one is taken for the body of a function. `input`,
 * where it is given, is a global of that name. What must hold:
 * - nothing is there but the language and a console: no network, no files, no modules, no timers, nothing of this process;
 * - nothing is left of a program for the next one;
 * - no program, however it is made, holds up the event loop, takes memory without bound or runs longer than its time;
 * - value, error and logs are of bounded length, a cut is marked, and they are well-formed text without NUL;
 * - users share it fairly: everybody's first program before anybody's second, and no user's programs, however many, take
 *   the places in which those of others run or wait;
 * - whatever the program does is a result. It rejects when it is aborted (with the signal's reason; the program is
 *   stopped) and with the fault `service_unavailable` when too many of the same user wait already, no thread can be
 *   started or the sandbox is closed.
 */
export interface Sandbox {
  /** `whose`: the user for whom it runs. */
  run(code: string, options: { whose: string; input?: unknown; signal: AbortSignal }): Promise<SandboxResult>;
  close(): Promise<void>;
}
