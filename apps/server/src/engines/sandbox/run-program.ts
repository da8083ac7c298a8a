import type { QuickJSContext, QuickJSHandle, QuickJSRuntime, QuickJSWASMModule } from "quickjs-emscripten";
import { guestPrelude, mostLogChars } from "./guest-prelude.ts";
import { type ProgramJob, type ProgramLimits, tookTooLong, tookTooMuch } from "./protocol.ts";
import type { SandboxResult } from "./sandbox.ts";

/** A script whose value is a promise of `{value}`, so that `await` may stand in it: `JS_EVAL_FLAG_ASYNC` of QuickJS. */
const asyncScript = 1 << 7;
const jobsAtOnce = 100;
const stackBytes = 512 * 1024;

/**
 * Runs one program in an interpreter of its own. The interpreter is thrown away as a whole afterwards, so nothing in it
 * is given back piece by piece, and one that a program has broken harms nobody.
 */
export function runProgram(interpreter: QuickJSWASMModule, job: ProgramJob, limits: ProgramLimits): SandboxResult {
  const startedAt = process.threadCpuUsage();
  const logs = new LogLines();
  let isLate = false;
  const checkTime = () => {
    const { user, system } = process.threadCpuUsage(startedAt);
    isLate ||= (user + system) / 1000 > limits.cpuMs;
    return isLate;
  };
  const failed = (error: string): SandboxResult => ({ ok: false, error, logs: logs.text() });
  try {
    const runtime = interpreter.newRuntime({
      memoryLimitBytes: limits.memoryBytes,
      maxStackSizeBytes: stackBytes,
      interruptHandler: checkTime,
    });
    const end = execute(runtime, job, logs, checkTime);
    if (isLate) return failed(tookTooLong(limits.cpuMs));
    if (end === undefined) return failed(tookTooMuch(limits.memoryBytes));
    if (end === "waiting") return failed("The program waits for a promise that nothing settles");
    if (end.startsWith("=")) return { ok: true, value: end.slice(1), logs: logs.text() };
    return failed(end.slice(1));
  } catch {
    // The interpreter itself gave up: no room for its own needs, or deeper calls than this thread's stack.
    return failed(isLate ? tookTooLong(limits.cpuMs) : tookTooMuch(limits.memoryBytes));
  }
}

/** The text that the program ended with, as `settle` of the prelude writes it; undefined when there was no room for it. */
function execute(
  runtime: QuickJSRuntime,
  job: ProgramJob,
  logs: LogLines,
  checkTime: () => boolean,
): string | undefined | "waiting" {
  const context = runtime.newContext();
  const emit = context.newFunction("emit", (line) => logs.add(context, line));
  const prelude = context.unwrapResult(context.evalCode(guestPrelude, "prelude.js"));
  const guest = context.unwrapResult(context.callFunction(prelude, context.undefined, emit));
  const call = (name: string, argument: QuickJSHandle) =>
    context.callFunction(context.getProp(guest, name), context.undefined, argument);

  if (job.input !== undefined) {
    const accepted = call("accept", context.newString(job.input));
    if (accepted.error) return undefined;
  }
  // Whatever the program throws is in the promise: an error here says that it does not compile, so nothing has run.
  let running = context.evalCode(job.code, "program.js", asyncScript);
  if (running.error) {
    const asBody = context.evalCode(`(async () => {${job.code}\n})()`, "program.js", asyncScript);
    if (asBody.error) {
      const explained = call("explain", running.error);
      return explained.error ? undefined : `!${context.getString(explained.value)}`;
    }
    running = asBody;
  }
  const settling = call("settle", running.value);
  if (settling.error) return undefined;
  while (runtime.hasPendingJob() && !checkTime()) {
    // A job that fails has its own promise to say so; the others go on.
    runtime.executePendingJobs(jobsAtOnce);
  }
  const state = context.getPromiseState(settling.value);
  if (state.type === "pending") return "waiting";
  if (state.type === "rejected" || context.typeof(state.value) !== "string") return undefined;
  return context.getString(state.value);
}

/** Lines are kept up to a length, then only the fact that there were more. */
class LogLines {
  readonly #lines: string[] = [];
  #left = mostLogChars;

  add(context: QuickJSContext, line: QuickJSHandle): void {
    if (this.#left < 0) return;
    const text = context.getString(line);
    this.#lines.push(text.slice(0, this.#left));
    this.#left -= text.length + 1;
    if (this.#left < 0) this.#lines.push("[cut: the program logged more than is kept]");
  }

  text(): string {
    // A cut may have divided a character.
    return this.#lines.join("\n").toWellFormed();
  }
}
