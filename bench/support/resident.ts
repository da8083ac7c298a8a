import { readFileSync } from "node:fs";

function residentMegabytes(pid: number): number {
  return (Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024) / 1e6;
}

/** The peak growth of the process's memory during `work`, in megabytes. */
export async function growthDuring(pid: number, work: () => Promise<unknown>): Promise<number> {
  const before = residentMegabytes(pid);
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, residentMegabytes(pid));
  }, 10);
  await work().finally(() => clearInterval(timer));
  return peak - before;
}
