import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export interface Served {
  pid: number;
  port: number;
  output(): string;
  stop(): Promise<void>;
}

/** As `npm start` sets it. */
export const allocator = {
  MALLOC_ARENA_MAX: "2",
  MALLOC_MMAP_THRESHOLD_: "262144",
  MALLOC_TRIM_THRESHOLD_: "262144",
};

/** Starts a TypeScript program and waits for the line `listens on …:<port>`. */
export function serve(script: URL, env: Record<string, string> = {}): Promise<Served> {
  const child: ChildProcess = spawn(process.execPath, [fileURLToPath(script)], {
    // Figures of one process, unless the benchmark asks for more.
    env: { ...allocator, ...process.env, GANTRY_PROCESSES: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer) => {
      output += chunk;
      const port = /listens on \S+:(\d+)/.exec(output)?.[1];
      if (port) resolve({ pid: child.pid ?? 0, port: Number(port), output: () => output, stop });
    };
    child.stdout?.on("data", onData);
    child.stderr?.on("data", onData);
    child.once("exit", (code) => reject(new Error(`${script.pathname} ended with ${code}:\n${output}`)));
  });

  function stop(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
    return new Promise((resolve) => {
      child.removeAllListeners("exit");
      child.once("exit", () => resolve());
      child.kill("SIGTERM");
    });
  }
}

const ticksPerSecond = 100;

interface ProcessFigures {
  children: Map<number, number[]>;
  ticks: Map<number, number>;
}

function readProcesses(): ProcessFigures {
  const children = new Map<number, number[]>();
  const ticks = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      const parent = Number(fields[1]);
      children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
      // Own time, and the time of children that have ended.
      ticks.set(Number(name), Number(fields[11]) + Number(fields[12]) + Number(fields[13]) + Number(fields[14]));
    } catch {
      // The process ended meanwhile.
    }
  }
  return { children, ticks };
}

/** A process and its descendants. */
export function treeOf(pid: number, { children } = readProcesses()): number[] {
  const below = (id: number): number[] => [id, ...(children.get(id) ?? []).flatMap(below)];
  return below(pid);
}

/** CPU seconds of a process and its descendants so far. */
export function cpuSecondsOf(pid: number): number {
  const found = readProcesses();
  return treeOf(pid, found).reduce((sum, id) => sum + (found.ticks.get(id) ?? 0), 0) / ticksPerSecond;
}
