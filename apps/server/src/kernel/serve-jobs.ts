import { writeFileSync } from "node:fs";
import type { FromProcess, ToProcess } from "./job-process.ts";

/** The other side of a `JobProcess`. The signal of a job fires when its caller has left. */
export function serveJobs<Job, Result>(work: (job: Job, signal: AbortSignal) => Promise<Result>): void {
  const running = new Map<number, AbortController>();
  const send = (message: FromProcess<Result>) => process.send?.(message);
  // If memory runs out, Linux ends this process instead of the server or PostgreSQL.
  try {
    writeFileSync("/proc/self/oom_score_adj", "500");
  } catch {
    // Another system, or not allowed in this container.
  }
  // The server has ended, perhaps by SIGKILL. `process.exit` would wait for native code.
  process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
  // A terminal or a service manager sends these to all processes. The server drains first, and needs this one until then.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined);
  process.on("message", async (message: ToProcess<Job>) => {
    if ("cancel" in message) return running.get(message.cancel)?.abort();
    const { id, job } = message;
    const cancelling = new AbortController();
    running.set(id, cancelling);
    const result = await work(job, cancelling.signal);
    running.delete(id);
    send({ id, result, residentBytes: process.memoryUsage.rss() });
  });
  send({ ready: true });
}
