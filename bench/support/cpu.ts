import { readFileSync } from "node:fs";
import { cpuSecondsOf } from "./processes.ts";

const ticksPerSecond = 100;

/** CPU seconds of the process alone. */
function ownCpuSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

export interface CpuUse {
  /** The process itself. */
  own: number;
  /** Its child processes: for Gantry, PostgreSQL. */
  below: number;
}

/** The returned function reports the time used since this call. */
export function countCpu(pid: number): () => CpuUse {
  const read = (): CpuUse => {
    const own = ownCpuSecondsOf(pid);
    return { own, below: cpuSecondsOf(pid) - own };
  };
  const before = read();
  return () => {
    const now = read();
    return { own: now.own - before.own, below: now.below - before.below };
  };
}

export function countOwnCpu(): () => number {
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1e6;
  };
}
