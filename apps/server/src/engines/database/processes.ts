import { execFile } from "node:child_process";
import { readFile, readlink } from "node:fs/promises";
import { promisify } from "node:util";

/** Pids are reused, so the start time is part of the identity. */
export interface ProcessIdentity {
  pid: number;
  startedAt: string;
}

interface Facts {
  zombie: boolean;
  startedAt: string;
}

/** Undefined if the process does not exist. */
async function factsOf(pid: number): Promise<Facts | undefined> {
  if (process.platform !== "linux") return factsFromPs(pid);
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The second field, the name in brackets, can contain anything. State and start time are fields 3 and 22.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, startedAt] = [fields[0], fields[19]];
  return state && startedAt
    ? { zombie: state === "Z" || state === "X", startedAt: `${await bootId()}/${startedAt}` }
    : undefined;
}

async function factsFromPs(pid: number): Promise<Facts | undefined> {
  const { stdout } = await promisify(execFile)("ps", ["-o", "stat=,lstart=", "-p", String(pid)]).catch(() => ({
    stdout: "",
  }));
  const [state, ...started] = stdout.trim().split(/\s+/);
  return state ? { zombie: state.startsWith("Z"), startedAt: started.join(" ") } : undefined;
}

let knownBootId: string | undefined;
async function bootId(): Promise<string> {
  knownBootId ??= (await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "")).trim();
  return knownBootId;
}

/** A zombie counts as gone. */
export async function isAlive(pid: number): Promise<boolean> {
  const facts = await factsOf(pid);
  return facts !== undefined && !facts.zombie;
}

export async function identify(pid: number): Promise<ProcessIdentity | undefined> {
  const facts = await factsOf(pid);
  return facts && !facts.zombie ? { pid, startedAt: facts.startedAt } : undefined;
}

export async function isStill({ pid, startedAt }: ProcessIdentity): Promise<boolean> {
  return (await identify(pid))?.startedAt === startedAt;
}

/** Pids are comparable only within a namespace: two containers on one volume each have a process 1. */
export async function pidNamespace(): Promise<string> {
  return process.platform === "linux" ? readlink("/proc/self/ns/pid").catch(() => "") : "";
}

/** Undefined if it is not visible. */
export async function workingDirectory(pid: number): Promise<string | undefined> {
  return readlink(`/proc/${pid}/cwd`).catch(() => undefined);
}
