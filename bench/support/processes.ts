import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export interface Served {
  pid: number;
  port: number;
  output(): string;
  stop(): Promise<void>;
}

/** Starts a TypeScript program and waits for the line `listens on …:<port>`. */
export function serve(script: URL, env: Record<string, string> = {}): Promise<Served> {
  const child: ChildProcess = spawn(process.execPath, [fileURLToPath(script)], {
    env: { ...process.env, ...env },
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
    return new Promise((resolve) => {
      child.removeAllListeners("exit");
      child.once("exit", () => resolve());
      child.kill("SIGTERM");
    });
  }
}

const ticksPerSecond = 100;

/** CPU seconds of a process and its descendants so far. */
export function cpuSecondsOf(pid: number): number {
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
  const sum = (id: number): number =>
    (ticks.get(id) ?? 0) + (children.get(id) ?? []).reduce((all, child) => all + sum(child), 0);
  return sum(pid) / ticksPerSecond;
}
