import { readdirSync, readFileSync } from "node:fs";

export function residentMegabytes(pid: number): number {
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

/**
 * Megabytes that a process and its descendants hold, without PostgreSQL. Pages that several processes share count once.
 */
export function heldMegabytes(pid: number): number {
  const children = new Map<number, number[]>();
  const isPostgres = new Set<number>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    const stat = textOf(`/proc/${name}/stat`);
    const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    if (stat.includes("(postgres)")) isPostgres.add(Number(name));
  }
  const sum = (id: number): number =>
    isPostgres.has(id) ? 0 : (children.get(id) ?? []).reduce((all, child) => all + sum(child), proportionalBytes(id));
  return sum(pid) / 1e6;
}

function proportionalBytes(pid: number): number {
  return Number(/^Pss:\s+(\d+)/m.exec(textOf(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) * 1024;
}

/** Empty if the process has ended. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
