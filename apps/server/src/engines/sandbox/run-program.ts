import type { QuickJSContext, QuickJSHandle, QuickJSRuntime, QuickJSWASMModule } from "quickjs-emscripten";
import { GuestFiles } from "./guest-files.ts";
import { guestPrelude, mostLogChars } from "./guest-prelude.ts";
import { type ProgramJob, type ProgramLimits, tookTooLong, tookTooMuch } from "./protocol.ts";
import type { SandboxResult } from "./sandbox.ts";

/** `JS_EVAL_FLAG_ASYNC` of QuickJS: allows top-level `await`; the value is a promise of `{value}`. */
const asyncScript = 1 << 7;
const jobsAtOnce = 100;
const stackBytes = 512 * 1024;

/** The caller discards the interpreter afterwards, so handles in it are not freed one by one. */
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
    const files = job.files && new GuestFiles(job.files);
    const end = execute(runtime, job, { logs, files, checkTime });
    if (isLate) return failed(tookTooLong(limits.cpuMs));
    if (end === undefined) return failed(tookTooMuch(limits.memoryBytes));
    if (end === "waiting") return failed("The program waits for a promise that never settles");
    if (end.startsWith("=")) {
      return { ok: true, value: end.slice(1), logs: logs.text(), ...(files && { writes: files.writes }) };
    }
    return failed(end.slice(1));
  } catch {
    // The interpreter itself failed: out of memory, or calls deeper than this thread's stack.
    return failed(isLate ? tookTooLong(limits.cpuMs) : tookTooMuch(limits.memoryBytes));
  }
}

/** The result as `settle` of the prelude writes it. Undefined if memory ran out. */
function execute(
  runtime: QuickJSRuntime,
  job: ProgramJob,
  { logs, files, checkTime }: { logs: LogLines; files: GuestFiles | undefined; checkTime: () => boolean },
): string | undefined | "waiting" {
  const context = runtime.newContext();
  const emit = context.newFunction("emit", (line) => logs.add(context, line));
  const prelude = context.unwrapResult(context.evalCode(guestPrelude, "prelude.js"));
  const guest = context.unwrapResult(
    context.callFunction(prelude, context.undefined, emit, files?.functionIn(context) ?? context.undefined),
  );
  const call = (name: string, argument: QuickJSHandle) =>
    context.callFunction(context.getProp(guest, name), context.undefined, argument);

  if (job.input !== undefined) {
    const accepted = call("accept", context.newString(job.input));
    if (accepted.error) return undefined;
  }
  // An error here means that the program does not compile: errors at run time are in the promise.
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
    // A failed job rejects its own promise; the others continue.
    runtime.executePendingJobs(jobsAtOnce);
  }
  const state = context.getPromiseState(settling.value);
  if (state.type === "pending") return "waiting";
  if (state.type === "rejected" || context.typeof(state.value) !== "string") return undefined;
  return context.getString(state.value);
}

/** Keeps lines up to a total length and marks the cut. */
class LogLines {
  readonly #lines: string[] = [];
  #left = mostLogChars;

  add(context: QuickJSContext, line: QuickJSHandle): void {
    if (this.#left < 0) return;
    const text = context.getString(line);
    this.#lines.push(text.slice(0, this.#left));
    this.#left -= text.length + 1;
    if (this.#left < 0) this.#lines.push("[cut: the program logged more]");
  }

  text(): string {
    // The cut may have split a character.
    return this.#lines.join("\n").toWellFormed();
  }
}
